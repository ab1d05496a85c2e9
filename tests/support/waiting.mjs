// SPDX-License-Identifier: GPL-3.0-or-later
// waiting.mjs: what hears something, and those who wait until it has.

export class Waiting {
    #wake = new Set();

    // Lets all who wait look again.
    wakeAll() {
        for (const wake of [...this.#wake])
            wake();
    }

    // Resolves with the value of PROBE as soon as it is true; undefined after
    // SECONDS. PROBE is called again at each wakeAll.
    until(probe, seconds) {
        const now = probe();
        if (now)
            return Promise.resolve(now);
        return new Promise(done => {
            const end = found => {
                clearTimeout(timer);
                this.#wake.delete(wake);
                done(found);
            };
            const wake = () => {
                const found = probe();
                if (found)
                    end(found);
            };
            const timer = setTimeout(end, 1000 * seconds);
            this.#wake.add(wake);
        });
    }
}
