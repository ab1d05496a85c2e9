// SPDX-License-Identifier: GPL-3.0-or-later
// random.mjs: the same numbers for the same seed (Mulberry32).
export class Random {
    constructor(seed) {
        this.state = seed;
    }

    // 0 … N - 1
    below(n) {
        this.state = (this.state + 0x6d2b79f5) | 0;
        let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) % n;
    }

    of(list) {
        return list[this.below(list.length)];
    }
}
