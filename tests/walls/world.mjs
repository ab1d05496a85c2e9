// SPDX-License-Identifier: GPL-3.0-or-later
// world.mjs: what the attempts of one server are made in and against: folders
// inside and outside, a home with secrets, and other programs of the user. Each
// attempt has files of its own, so that none sees what another has done.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';

// Names that stand for what a victim prints.
const OF_VICTIM = /\$(?:VICTIM|SHM|SEM|MSQ|MQ|SOCKET|DATAGRAM|ABSTRACT|PORT|UDP|ADDRESS)\b/;

// Below FOLDER, each with "old" in it.
const HOME_FILES = ['plain', '.profile', '.bashrc', '.ssh/id_rsa',
    '.ssh/config', '.gnupg/key', '.aws/credentials', '.kube/config',
    '.netrc', '.npmrc', '.pypirc', '.git-credentials', '.env',
    '.docker/config.json', '.config/gcloud/token', '.config/gh/hosts.yml',
    '.config/ecl-mcp/policy.json', '.config/ecl-mcp/other', '.config/other', '.cache/other',
    '.local/state/ecl-mcp/audit/log.jsonl', '.mozilla/logins.json',
    'passwords.kdbx', 'project/file', 'Documents/text'];

// Settings of other tools, in the workspace and in repositories in it.
const SETTINGS = ['.helix/config.toml', '.tool-versions', 'mise.toml',
    '.config/mise/config.toml', '.github/hooks/x.json', '.gdbinit',
    '.devcontainer.json', '.hg/hgrc', '.hg/requires',
    '.hg/store/data', 'mercurial/.hg/hgrc', 'jujutsu/.jj/repo/config.toml',
    'jujutsu/.jj/repo/store/git_target', 'jujutsu/.jj/repo/op',
    'jujutsu/.jj/repo/store/git/config', 'beside/.jj/repo', 'beside/.helix/x'];

// TEXT with the values of the $NAMES that are known.
export const substitute = (text, names) =>
    text.replace(/\$([A-Z]+)\b/g, (all, name) => names[name] ?? all);

export class World {
    #victims = [];

    constructor(folder, uid) {
        this.folder = folder;
        this.uid = uid;
        for (const name of ['ws', 'out', 'home', 'tmp', 'run'])
            fs.mkdirSync(path.join(folder, name), { recursive: true });
        for (const name of HOME_FILES)
            this.#write(`home/${name}`);
        for (const name of ['hooks/pre-commit', 'hooks/doomed-sh',
            'hooks/doomed-sys', 'objects/none', 'refs/none',
            'worktrees/w/commondir', 'worktrees/w/gitdir',
            'modules/m/hooks/pre-commit', 'modules/a/b/c/hooks/pre-commit',
            'modules/a/b/c/modules/d/e/config', 'modules/a/b/c/config',
            'modules/hooks/config', 'modules/hooks/hooks/pre-commit',
            'modules/libs/logs/config', 'modules/m/refs/heads/main'])
            this.#write(`ws/.git/${name}`);
        for (const name of ['.mcp.json', '.claude/settings.json',
            '.vscode/tasks.json', ...SETTINGS])
            this.#write(`ws/${name}`);
        // repositories in folders of the workspace, and one whose folder has
        // another name
        for (const folder of ['sub/.git', 'deep/er/.git', 'apart'])
            for (const name of ['hooks/pre-commit', 'config', 'HEAD'])
                this.#write(`ws/${folder}/${name}`);
        fs.mkdirSync(this.path('ws/work'));
        fs.writeFileSync(this.path('ws/work/.git'), 'gitdir: ../apart\n');
        fs.writeFileSync(this.path('ws/.git/modules/m/config'), '[core]\n');
        // other names of secrets
        for (const [secret, name] of [['.netrc', 'too'],
            ['.netrc', 'Documents/too'], ['.npmrc', '.config/too'],
            ['.env', 'project/too'], ['.ssh/id_rsa', 'key-too'],
            ['.gnupg/key', 'Documents/key-too']])
            fs.linkSync(this.path(`home/${secret}`), this.path(`home/${name}`));
        // git reads these, and the server the rules
        fs.writeFileSync(this.path('ws/.git/config'), '[core]\n');
        fs.writeFileSync(this.path('ws/.git/HEAD'), 'ref: refs/heads/main\n');
        fs.writeFileSync(this.path('home/.config/ecl-mcp/policy.json'),
            '{}\n');
    }

    path(name) {
        return path.join(this.folder, name);
    }

    #write(name) {
        fs.mkdirSync(path.dirname(this.path(name)), { recursive: true });
        fs.writeFileSync(this.path(name), 'old\n', { mode: 0o600 });
    }

    // The files of an attempt below FOLDER that its TEXT names.
    #fill(folder, text) {
        this.#write(`${folder}/old`);
        if (text.includes('folder'))
            this.#write(`${folder}/folder/file`);
        if (text.includes('/empty') || text.includes(' empty'))
            fs.mkdirSync(this.path(`${folder}/empty`));
        if (text.includes('/link'))
            fs.symlinkSync('old', this.path(`${folder}/link`));
    }

    // The text of ATTEMPT number I, with the names of its own files.
    async prepare(attempt, i, program) {
        const names = {
            OUT: this.path(`out/${i}`), IN: this.path(`ws/${i}`),
            KEY: this.path(`home/.ssh/key-${i}`), HOME: this.path('home'),
            WS: this.path('ws'), TMP: this.path('tmp'),
            PROGRAM: program, N: i,
        };
        const uses = text => attempt.text.includes(text);
        if (uses('$OUT') || uses('/away') || uses('/out/'))
            this.#fill(`out/${i}`, attempt.text);
        if (uses('$IN'))
            this.#fill(`ws/${i}`, attempt.text);
        for (const [name, goal] of [['away', `${names.OUT}/old`],
            ['away-new', `${names.OUT}/new`], ['away-folder', names.OUT],
            ['away-key', names.KEY]])
            if (uses(`/${name}`))
                fs.symlinkSync(goal, `${names.IN}/${name}`);
        if (uses('$KEY') || uses('/away-key'))
            this.#write(`home/.ssh/key-${i}`);
        if (OF_VICTIM.test(attempt.text))
            Object.assign(names, await this.#newVictim(program));
        return substitute(attempt.text, names);
    }

    // Gives everything to the user of this world.
    own() {
        if (this.uid === undefined)
            return;
        const give = name => {
            fs.lchownSync(name, this.uid, this.uid);
            if (fs.lstatSync(name).isDirectory())
                for (const entry of fs.readdirSync(name))
                    give(path.join(name, entry));
        };
        give(this.folder);
    }

    async #newVictim(program) {
        if (this.uid !== undefined)
            fs.chownSync(this.path('run'), this.uid, this.uid);
        const victim = spawn(program, ['--victim', this.path('run')], {
            stdio: ['pipe', 'pipe', 'inherit'], uid: this.uid, gid: this.uid,
            cwd: this.path('ws'),
        });
        const names = { VICTIM: victim.pid };
        victim.stdin.on('error', () => {}); // it may have been killed
        this.#victims.push(victim);
        for await (const line of readline.createInterface(victim.stdout)) {
            if (line === 'ready')
                break;
            const at = line.indexOf('=');
            names[line.slice(0, at)] = line.slice(at + 1);
        }
        return names;
    }

    // Ends the victims, which remove what they have made. Those that were
    // stopped or killed cannot.
    async end() {
        await Promise.all(this.#victims.map(async victim => {
            victim.stdin.end();
            if (victim.exitCode === null && victim.signalCode === null) {
                victim.kill('SIGCONT');
                await once(victim, 'exit');
            }
        }));
    }

    // What attempt I has outside, as a text: names, kinds, modes, contents.
    outside(i) {
        const lines = [];
        const look = name => {
            const info = fs.lstatSync(name);
            const what = info.isDirectory() ? '' : info.isSymbolicLink()
                ? fs.readlinkSync(name) : info.isFile()
                    ? fs.readFileSync(name, 'latin1') : '(special)';
            lines.push(`${path.basename(name)} ${info.mode.toString(8)} ` +
                `${info.nlink} ${JSON.stringify(what)}`);
            if (info.isDirectory())
                for (const entry of fs.readdirSync(name).sort())
                    look(path.join(name, entry));
        };
        for (const name of [`out/${i}`, `home/.ssh/key-${i}`])
            if (fs.existsSync(this.path(name)))
                look(this.path(name));
        return lines.join('\n');
    }
}
