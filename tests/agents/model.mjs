// SPDX-License-Identifier: GPL-3.0-or-later
// model.mjs: a model API on the loopback interface that needs no model: it
// goes through a list of tool calls, one for each answer, and keeps what the
// agent showed it of each result. It speaks the four APIs that agents know:
// Anthropic's messages, OpenAI's responses and chat completions, and Gemini's
// generateContent. It also stands in for a proxy, and lets nothing through.
import http from 'node:http';

const DONE = 'That was all.';

// A text, or the texts of content blocks.
const textOf = content => typeof content === 'string' ? content :
    Array.isArray(content) ? content.map(part => part.text ?? '').join('') :
        JSON.stringify(content);

const events = (response, list) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const { event, data } of list)
        response.write((event ? `event: ${event}\n` : '') +
            `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
    response.end();
};

const json = (response, value) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
};

// Each API: which requests are its own; which tools (the name, and whatever
// else a call has to repeat) and results a request has; how to send a call, or
// words when there is none.
const anthropic = {
    path: /\/v1\/messages(\?|$)/,
    tools: body => body.tools,
    results: body => body.messages.flatMap(message =>
        Array.isArray(message.content) ? message.content : [])
        .filter(part => part.type === 'tool_result')
        .map(part => textOf(part.content)),
    send(response, body, id, call) {
        const block = call ?
            { type: 'tool_use', id, name: call.tool.name, input: call.args } :
            { type: 'text', text: DONE };
        const message = {
            id: `msg_${id}`, type: 'message', role: 'assistant',
            model: body.model, content: [block],
            stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null,
            usage: { input_tokens: 1, output_tokens: 1 },
        };
        if (!body.stream) {
            json(response, message);
            return;
        }
        const { stop_reason, stop_sequence, usage } = message;
        const start = call ? { ...block, input: {} } : { ...block, text: '' };
        const delta = call ? { type: 'input_json_delta',
            partial_json: JSON.stringify(call.args) } :
            { type: 'text_delta', text: DONE };
        events(response, [
            { type: 'message_start', message:
                { ...message, content: [], stop_reason: null } },
            { type: 'content_block_start', index: 0, content_block: start },
            { type: 'content_block_delta', index: 0, delta },
            { type: 'content_block_stop', index: 0 },
            { type: 'message_delta', usage,
                delta: { stop_reason, stop_sequence } },
            { type: 'message_stop' },
        ].map(data => ({ event: data.type, data })));
    },
};

const responses = {
    path: /\/v1\/responses$/,
    tools: body => body.tools?.flatMap(tool => tool.type === 'namespace' ?
        tool.tools.map(inner => ({ ...inner, namespace: tool.name })) : tool),
    results: body => body.input.filter(item => /_output$/.test(item.type))
        .map(item => textOf(item.output)),
    send(response, body, id, call) {
        const item = call ? {
            type: 'function_call', id: `fc_${id}`, call_id: id,
            name: call.tool.name, namespace: call.tool.namespace,
            arguments: JSON.stringify(call.args), status: 'completed',
        } : {
            type: 'message', id: `m_${id}`, role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: DONE, annotations: [] }],
        };
        const whole = {
            id: `resp_${id}`, object: 'response', status: 'completed',
            model: body.model, output: [item],
            usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
        };
        events(response, [
            { type: 'response.created', response:
                { ...whole, status: 'in_progress', output: [] } },
            { type: 'response.output_item.added', output_index: 0, item },
            { type: 'response.output_item.done', output_index: 0, item },
            { type: 'response.completed', response: whole },
        ].map(data => ({ event: data.type, data })));
    },
};

const chat = {
    path: /\/v1\/chat\/completions$/,
    tools: body => body.tools?.map(tool => tool.function),
    results: body => body.messages.filter(message => message.role === 'tool')
        .map(message => textOf(message.content)),
    send(response, body, id, call) {
        const message = call ? { role: 'assistant', content: null,
            tool_calls: [{ index: 0, id, type: 'function', function: {
                name: call.tool.name, arguments: JSON.stringify(call.args) } }],
        } : { role: 'assistant', content: DONE };
        const finish = call ? 'tool_calls' : 'stop';
        const base = { id: `chat_${id}`, created: 1, model: body.model };
        const usage = { prompt_tokens: 1, completion_tokens: 1,
            total_tokens: 2 };
        const chunk = (delta, finish_reason) => ({ data: { ...base, usage,
            object: 'chat.completion.chunk',
            choices: [{ index: 0, delta, finish_reason }] } });
        if (body.stream)
            events(response, [chunk(message, null), chunk({}, finish),
                { data: '[DONE]' }]);
        else
            json(response, { ...base, usage, object: 'chat.completion',
                choices: [{ index: 0, message, finish_reason: finish }] });
    },
};

const gemini = {
    path: /:(streamG|g)enerateContent/,
    tools: body => body.tools?.flatMap(tool => tool.functionDeclarations ?? []),
    results: body => body.contents.flatMap(content => content.parts)
        .filter(part => part.functionResponse)
        .map(({ functionResponse: { response } }) =>
            response.output ?? response.error ?? JSON.stringify(response)),
    send(response, body, id, call, url) {
        const wantsJson = body.generationConfig?.responseMimeType ===
            'application/json';
        const part = call ?
            { functionCall: { name: call.tool.name, args: call.args } } :
            { text: wantsJson ? '{}' : DONE };
        const answer = { modelVersion: 'scripted', candidates: [{ index: 0,
            content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1,
            totalTokenCount: 2 } };
        if (url.includes(':stream'))
            events(response, [{ data: answer }]);
        else
            json(response, answer);
    },
};

const WAYS = [anthropic, responses, chat, gemini];
// What agents also ask for.
const ASIDE = [
    [/count_tokens/, { input_tokens: 1 }],
    [/:countTokens/, { totalTokens: 1 }],
    [/\/models/, { object: 'list', data: [], models: [] }],
];

// The name of a tool with its namespace.
const whole = tool => [tool.namespace, tool.name].filter(Boolean).join('/');
const plain = name => name.replace(/[-/.]/g, '_');

export class Model {
    #server;
    #last = 0;

    // SERVER is the agent's name for the server. Each of STEPS is a call: the
    // "tool", as the server names it, and "args".
    constructor(server, steps) {
        this.server = server;
        this.steps = steps;
        this.offered = []; // names of tools, as the agent has them
        this.prompts = ''; // the first request with tools, as JSON
        this.results = []; // of each call, as the agent shows it
        this.strangers = new Set(); // hosts that it wanted to reach
    }

    async start() {
        this.#server = http.createServer((request, response) =>
            this.#answer(request, response));
        this.#server.on('connect', (request, socket) => {
            this.strangers.add(request.url);
            socket.on('error', () => {}); // it may not wait for the answer
            socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
        });
        await new Promise(done => this.#server.listen(0, '127.0.0.1', done));
        this.url = `http://127.0.0.1:${this.#server.address().port}`;
    }

    stop() {
        this.#server.closeAllConnections();
        this.#server.close();
    }

    async #answer(request, response) {
        const chunks = [];
        for await (const chunk of request)
            chunks.push(chunk);
        const way = request.method === 'POST' &&
            WAYS.find(one => one.path.test(request.url));
        const aside = ASIDE.find(([path]) => path.test(request.url));
        if (!request.url.startsWith('/'))
            this.strangers.add(request.url);
        if (way)
            this.#play(way, request.url, JSON.parse(Buffer.concat(chunks)),
                response);
        else if (aside)
            json(response, aside[1]);
        else
            response.writeHead(404).end('{"error":{"message":"no such path"}}');
    }

    // Whether this is the agent's name for the server's TOOL.
    #isOurs(name, tool) {
        return new RegExp(`(^|_)${this.server}_+${plain(tool)}$`)
            .test(plain(name));
    }

    // The TOOLS of the server that the agent does not offer its model.
    absent(tools) {
        return tools.filter(tool =>
            !this.offered.some(name => this.#isOurs(name, tool)));
    }

    // As many steps are done as the request has results. A request without the
    // tool (for a title, say) gets words.
    #play(way, url, body, response) {
        const tools = way.tools(body) ?? [];
        const results = way.results(body);
        const step = this.steps[results.length];
        const tool = step && tools.find(one =>
            this.#isOurs(whole(one), step.tool));
        if (tool && !this.offered.length) {
            this.offered = tools.map(whole);
            this.prompts = JSON.stringify(body);
        }
        if (results.length > this.results.length)
            this.results = results;
        way.send(response, body, `call_${++this.#last}`,
            tool && { tool, args: step.args }, url);
    }
}
