// SPDX-License-Identifier: GPL-3.0-or-later
// calls.mjs: every system call that the headers of this system know has its
// place in the tables of the filter, or is one that is left out on purpose.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

// Calls of the past, and those that syscall_table.c says do not exist.
const LEFT_OUT = new Set(['_sysctl', 'afs_syscall', 'clone3', 'create_module',
    'epoll_ctl_old', 'epoll_wait_old', 'get_kernel_syms', 'getpmsg',
    'memfd_secret', 'openat2', 'putpmsg', 'query_module', 'security', 'sysfs',
    'tuxcall', 'uretprobe', 'vserver']);

// The names of calls without a place, below ROOT.
export function misplacedCalls(root) {
    const text = ['syscall_table.c', 'syscall_table.h', 'syscall_arguments.c']
        .map(name => fs.readFileSync(path.join(root, 'image', name), 'utf8'))
        .join('\n');
    const placed = new Set([...text.matchAll(/SCMP_SYS\((\w+)\)/g)]
        .map(([, name]) => name)
        .concat([...text.matchAll(/\bNEW_(\w+)/g)]
            .map(([, name]) => name.toLowerCase())));
    const { stdout } = spawnSync('gcc', ['-dM', '-E', '-x', 'c', '-'],
        { input: '#include <sys/syscall.h>\n', encoding: 'utf8' });
    const known = [...stdout.matchAll(/^#define __NR_(\w+) /gm)]
        .map(([, name]) => name);
    if (known.length < 200)
        return ['gcc does not say which calls there are'];
    return known.filter(name => !placed.has(name) && !LEFT_OUT.has(name));
}
