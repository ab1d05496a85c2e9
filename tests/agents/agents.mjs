// SPDX-License-Identifier: GPL-3.0-or-later
// agents.mjs: how each agent is started: headless, in an empty home, with a
// scripted model, and with the server set up by what README.md says about
// that agent.
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const README = fs.readFileSync(path.join(HERE, '../../README.md'), 'utf8');
const MODULES = path.join(HERE, 'node_modules');
const KEY = 'no-key';
const ARCH = process.arch;
const TRIPLE = { x64: 'x86_64', arm64: 'aarch64' }[ARCH];

// What the table of README.md says about AGENT: the file, and what it must
// contain.
function row(agent, { home, program }) {
    const [, file, text] = new RegExp(
        `^\\| ${agent} \\| (?:\`~/([^|]*)\`|shell) \\| (.*) \\|$`, 'm')
        .exec(README);
    return { file: file && path.join(home, file),
        text: text.replace(/^`|`$/g, '').replaceAll('PROG', program) };
}

// The block of README.md in LANGUAGE.
function block(language, program) {
    const [, text] = new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'm')
        .exec(README);
    return text.replaceAll('PROG', program);
}

function write(file, content) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, typeof content === 'string' ? content :
        JSON.stringify(content, null, 2));
}

// Each agent has its name in README.md and in MCP; whether it can put a
// question to its user; the version of MCP that it speaks with this server; the
// name under which its model sees evaluate-lisp; whether its model sees the
// server's instructions. PREPARE sets up HOME and returns the arguments of the
// command line; ENV returns variables. SECONDS is the time that the agent must
// give a call.
export const agents = [
    {
        name: 'Claude Code',
        asks: true, client: 'claude-code', version: '2026-07-28',
        tool: 'mcp__lisp__evaluate-lisp',
        instructions: true,
        program: `@anthropic-ai/claude-code-linux-${ARCH}/claude`,
        prepare({ run, tools, ...place }) {
            const [, ...words] = row('Claude Code', place).text.split(' ');
            const { status, stdout, stderr } = run(words);
            if (status !== 0)
                throw new Error(`claude ${words.join(' ')}: ${stdout}${stderr}`);
            return ['-p', 'go', '--allowedTools',
                tools.map(name => `mcp__lisp__${name}`).join(' ')];
        },
        env: (url, seconds) => ({
            ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY,
            // or else the model would have to search for tools first
            ENABLE_TOOL_SEARCH: 'false', DISABLE_AUTOUPDATER: '1',
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
            MCP_TOOL_TIMEOUT: String(1000 * seconds),
        }),
    },
    {
        name: 'Codex',
        asks: true, client: 'codex-mcp-client', version: '2025-06-18',
        tool: 'mcp__lisp/evaluate_lisp', // with its namespace
        instructions: true,
        program: `@openai/codex-linux-${ARCH}/vendor/` +
            `${TRIPLE}-unknown-linux-musl/bin/codex`,
        prepare({ url, seconds, ...place }) {
            write(row('Codex', place).file, `
model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"
${block('toml', place.program).replace(/(tool_timeout_sec = )\d+/, `$1${seconds}`)}`);
            return ['exec', '--skip-git-repo-check', 'go'];
        },
        env: () => ({}),
    },
    {
        name: 'Gemini CLI',
        asks: false, client: 'gemini-cli-mcp-client', version: '2025-06-18',
        tool: 'mcp_lisp_evaluate-lisp',
        instructions: true,
        program: '@google/gemini-cli/bundle/gemini.js',
        prepare({ seconds, ...place }) {
            const { file, text } = row('Gemini CLI', place);
            const settings = JSON.parse(text);
            settings.mcpServers.lisp.timeout = 1000 * seconds;
            write(file, {
                ...settings,
                telemetry: { enabled: false },
                privacy: { usageStatisticsEnabled: false },
                general: { enableAutoUpdate: false },
                security: { folderTrust: { enabled: false },
                    auth: { selectedType: 'gemini-api-key' } },
            });
            return ['-m', 'gemini-2.5-flash', '--approval-mode', 'yolo',
                '-p', 'go'];
        },
        env: url => ({
            GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url,
            GEMINI_CLI_TRUST_WORKSPACE: 'true',
        }),
    },
    {
        name: 'opencode',
        asks: false, client: 'opencode', version: '2025-11-25',
        tool: 'lisp_evaluate-lisp',
        instructions: true,
        program: ARCH === 'x64' ? 'opencode-linux-x64-baseline/bin/opencode' :
            `opencode-linux-${ARCH}/bin/opencode`,
        prepare({ url, seconds, ...place }) {
            const { file, text } = row('opencode', place);
            const settings = JSON.parse(text);
            settings.mcp.lisp.timeout = 1000 * seconds;
            write(file, {
                ...settings,
                autoupdate: false, share: 'disabled', permission: 'allow',
                model: 'scripted/scripted',
                provider: { scripted: {
                    npm: '@ai-sdk/openai-compatible', name: 'scripted',
                    options: { baseURL: `${url}/v1`, apiKey: KEY },
                    models: { scripted: { name: 'scripted', tool_call: true,
                        limit: { context: 200000, output: 8000 } } },
                } },
            });
            return ['run', 'go'];
        },
        env: () => ({
            OPENCODE_DISABLE_MODELS_FETCH: '1',
            OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
        }),
    },
    {
        name: 'Copilot CLI',
        asks: true, client: 'copilot-cli', version: '2026-07-28',
        tool: 'lisp-evaluate-lisp',
        instructions: false,
        program: `@github/copilot-linux-${ARCH}/copilot`,
        prepare({ seconds, ...place }) {
            const { file, text } = row('Copilot CLI', place);
            const settings = JSON.parse(text);
            settings.mcpServers.lisp.timeout = 1000 * seconds;
            write(file, settings);
            return ['-p', 'go', '--allow-all-tools', '--no-color'];
        },
        env: url => ({
            COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
            COPILOT_PROVIDER_API_KEY: KEY, COPILOT_MODEL: 'scripted',
            COPILOT_AUTO_UPDATE: 'false', COPILOT_OFFLINE: 'true',
        }),
    },
];

// The command of AGENT, without arguments; throws when it is not installed.
export function command(agent) {
    const file = path.join(MODULES, agent.program);
    if (!fs.existsSync(file))
        throw new Error(`${agent.name} is not installed: npm has no ` +
            `${agent.program} for this machine`);
    return file.endsWith('.js') ? [process.execPath, file] : [file];
}

// Runs AGENT with ARGS until it ends.
export function run(agent, args, options) {
    const [file, ...first] = command(agent);
    return spawnSync(file, [...first, ...args],
        { ...options, encoding: 'utf8' });
}
