// SPDX-License-Identifier: GPL-3.0-or-later
// ahead.mjs: whether a copy compiles ahead of a load, on a system that can confine
// it, and on one that lacks a part of that.
import fs from 'node:fs';

const FILES = {
    'ahead.asd': '(defsystem "ahead" :serial t :components ' +
        '((:file "ahead1") (:file "ahead2")))',
    // the session waits until the copy has done all that it does
    'ahead1.lisp': '(eval-when (:compile-toplevel)' +
        ' (unless ecl-mcp::*scouting*' +
        '  (loop until (ecl-mcp::child-ended-p' +
        '               (ecl-mcp::scout-process ecl-mcp::*scout*))' +
        '        do (sleep 0.01))))',
    'ahead2.lisp': '(eval-when (:compile-toplevel)' +
        ' (when ecl-mcp::*scouting* (ecl-mcp::remark "A copy ran this.")))',
};

// Faults of what SERVER does in WORLD, a load of a system of two files, on a
// system that lacks what is HIDDEN.
export async function aheadFaults(server, world, hidden) {
    for (const [name, text] of Object.entries(FILES))
        fs.writeFileSync(world.path(`ws/${name}`), text, { mode: 0o644 });
    const found = await server.evaluate('(setf ecl-mcp::*scouts* t) ' +
        '(require :asdf) (asdf:load-system "ahead") ' +
        '(format nil "~s, ~d header" ecl-mcp::*compiled-ahead* ' +
        '(length (directory (format nil "~aheaders-*/*/ecl.h.gch" ' +
        '(ext:getenv "ECL_MCP_CACHE")))))', 'ahead');
    const confined = !hidden.some(part => /^(landlock|seccomp)$/.test(part));
    const expected = confined ? /:TAKEN 2 .*A copy ran this.*, 1 header/s
        : /:TAKEN 0 .*the system cannot confine a copy/s;
    return [[expected.test(found), `instead of ${expected}`],
        [confined === /A copy ran this/.test(found), 'whether code was run']]
        .filter(([right]) => !right)
        .map(([, what]) => `compiling ahead: ${what}: ${found}`);
}
