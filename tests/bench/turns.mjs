// SPDX-License-Identifier: GPL-3.0-or-later
// turns.mjs: the longest turn of the server's loop, and the most memory that the
// server takes, for calls of each kind at full size.
//   node turns.mjs SERVER [KIND...]
// prints a line for each kind, or each whose name contains a KIND, with tabs
// between: its family; the milliseconds of the processor's time and of the clock
// that the longest turn took; megabytes beyond those of an idle server; its
// name. The server measures its turns itself (lisp://metrics).
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const [program, ...wanted] = process.argv.slice(2);
const server = path.resolve(program);
const MB = 1000 * 1000;
const FULL = 15 * MB; // nearly all that a message may have

function fail(why) {
  console.error(`turns.mjs: ${why}`);
  process.exit(1);
}

class Server {
  #process;
  #waiting = new Map();
  #chunks = [];
  #lastId = 0;

  constructor(workspace, options) {
    this.workspace = workspace;
    this.#process = spawn(server, options, {
      cwd: workspace,
      env: { ...process.env, HOME: path.join(workspace, "..", "home") },
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#process.on("error", fail);
    this.#process.on("exit", (status) => status && fail(`status ${status}`));
    this.#process.stdout.on("data", (chunk) => this.#take(chunk));
  }

  #take(chunk) {
    for (;;) {
      const end = chunk.indexOf(10);
      if (end < 0) break;
      this.#chunks.push(chunk.subarray(0, end));
      chunk = chunk.subarray(end + 1);
      const line = Buffer.concat(this.#chunks);
      this.#chunks = [];
      this.#message(JSON.parse(line.toString()));
    }
    this.#chunks.push(chunk);
  }

  #message(message) {
    if (message.method === "elicitation/create") {
      const content = { decision: "approve" };
      this.send({ id: message.id, result: { action: "accept", content } });
      return;
    }
    const id = message.id ?? "none";
    this.#waiting.get(id)?.(message);
    this.#waiting.delete(id);
  }

  send(message) {
    this.raw(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  raw(text) {
    this.#process.stdin.write(text);
  }

  answer(id) {
    return new Promise((resolve) => {
      const late = setTimeout(() => fail(`no answer to ${String(id).slice(0, 50)}`), 60000);
      this.#waiting.set(id, (message) => (clearTimeout(late), resolve(message)));
    });
  }

  request(method, params, id = ++this.#lastId) {
    const answer = this.answer(id);
    this.send({ id, method, params });
    return answer;
  }

  call(name, args) {
    return this.request("tools/call", { name, arguments: args });
  }

  eval(code, args = {}) {
    return this.call("evaluate-lisp", { code, ...args });
  }

  async initialize(capabilities = {}, protocolVersion = "2025-06-18") {
    await this.request("initialize", {
      protocolVersion,
      capabilities,
      clientInfo: { name: "bench", version: "1" },
    });
    this.send({ method: "notifications/initialized" });
  }

  async metrics() {
    const { result } = await this.request("resources/read", { uri: "lisp://metrics" });
    return JSON.parse(result.contents[0].text).loop;
  }

  memory(field) {
    const status = fs.readFileSync(`/proc/${this.#process.pid}/status`, "utf8");
    return Number(status.match(new RegExp(`^${field}:\\s*(\\d+)`, "m"))[1]) / 1024;
  }

  end() {
    this.#process.stdin.end();
    return new Promise((resolve) => this.#process.on("exit", resolve));
  }
}

const kinds = {};
const families = []; // each with the index of its first kind
const family = (name) => families.push([Object.keys(kinds).length, name]);

const file = (s, name, text) => fs.writeFileSync(path.join(s.workspace, name), text);
const lines = (n, line) => Array.from({ length: n }, (_, i) => line(i)).join("");
const print = (n, code) =>
  `(let ((s (make-string 1024 :initial-element (code-char ${code}))))
     (dotimes (i ${n}) (write-string s *standard-output*)) (finish-output)
     (dotimes (i ${n}) (write-string s *error-output*)) (finish-output *error-output*))`;

family("start");
kinds["start"] = { run: (s) => s.eval("(+ 1 2)") };

family("messages");
for (const [name, text] of Object.entries({
  ascii: "x".repeat(FULL),
  "non-ASCII": "é".repeat(FULL / 2),
  quotes: '"'.repeat(FULL / 2),
  NUL: "\0".repeat(FULL / 6),
})) {
  kinds[`an unknown tool, ${name}`] = { run: (s) => s.call(text, {}) };
  kinds[`an unknown method, ${name}`] = { run: (s) => s.request(text, {}) };
  kinds[`an id, ${name}`] = { run: (s) => s.request("ping", {}, text.slice(0, -100)) };
  kinds[`an id of a call, ${name}`] = {
    run: (s) => s.request("tools/call", { name: "list-sessions", arguments: {} }, text.slice(0, -200)),
  };
  kinds[`an unknown argument, ${name}`] = { run: (s) => s.call("list-sessions", { [text]: 1 }) };
  kinds[`a bad argument, ${name}`] = { run: (s) => s.call("read-file", { path: "x", limit: text }) };
  kinds[`a path, ${name}`] = { run: (s) => s.call("read-file", { path: text }) };
  kinds[`a session, ${name}`] = { run: (s) => s.eval("1", { session: text }) };
  kinds[`resources/read of a URI, ${name}`] = { run: (s) => s.request("resources/read", { uri: text }) };
  kinds[`evaluate-lisp, ${name}`] = { run: (s) => s.eval(`(length "${text.replaceAll('"', "'")}")`) };
  kinds[`validate-syntax of ${name}`] = { run: (s) => s.call("validate-syntax", { code: text }) };
  kinds[`describe-symbol, ${name}`] = { run: (s) => s.call("describe-symbol", { symbol: text }) };
  kinds[`search-files, pattern, ${name}`] = { run: (s) => s.call("search-files", { pattern: text }) };
  kinds[`write-file, ${name}`] = {
    options: ["--allow", "write-file"],
    run: (s) => s.call("write-file", { path: "new", content: text }),
  };
  kinds[`write-file, refused, ${name}`] = {
    options: ["--deny", "write-file"],
    run: (s) => s.call("write-file", { path: "new", content: text }),
  };
  kinds[`a progress token, ${name}`] = {
    run: (s) => s.request("tools/call", { name: "list-sessions", arguments: {}, _meta: { progressToken: text } }),
  };
}
kinds["a cursor"] = { run: (s) => s.request("resources/list", { cursor: "after-" + "1".repeat(FULL) }) };
kinds["a cancelled id"] = {
  run: (s) => (s.send({ method: "notifications/cancelled", params: { requestId: "x".repeat(FULL) } }), s.request("ping", {})),
};
kinds["an answer to nothing"] = {
  run: (s) => (s.send({ id: "y".repeat(FULL), result: {} }), s.request("ping", {})),
};
kinds["a long blank line"] = { run: (s) => (s.raw(`${" ".repeat(FULL)}\n`), s.request("ping", {})) };
kinds["a line too long"] = { run: (s) => (s.raw(`${"[".repeat(4 * FULL)}\n`), s.request("ping", {})) };
kinds["not JSON"] = { run: (s) => (s.raw(`["${"x".repeat(FULL)}\n`), s.request("ping", {})) };
kinds["many values"] = {
  run: (s) => s.request("tools/call", { name: "list-sessions", arguments: Object.fromEntries(Array.from({ length: 130000 }, (_, i) => [`n${i}`, i])) }),
};
kinds["many members of a message"] = {
  run: (s) => s.request("ping", Object.fromEntries(Array.from({ length: 130000 }, (_, i) => [`n${i}`, i]))),
};
kinds["many lists of tools at once"] = {
  run: async (s) => {
    const last = s.answer("last");
    s.raw(lines(1000, (i) => `{"jsonrpc":"2.0","id":"q${i}","method":"tools/list"}\n`));
    s.raw('{"jsonrpc":"2.0","id":"last","method":"ping"}\n');
    await last;
  },
};
kinds["many calls at once"] = {
  run: async (s) => {
    const last = s.answer("last");
    s.raw(lines(1000, (i) => `{"jsonrpc":"2.0","id":"q${i}","method":"tools/call","params":{"name":"list-sessions"}}\n`));
    s.raw('{"jsonrpc":"2.0","id":"last","method":"tools/call","params":{"name":"list-sessions"}}\n');
    await last;
  },
};
kinds["many lines of nothing"] = {
  run: async (s) => {
    const last = s.answer("last");
    s.raw("x\n".repeat(100000));
    s.raw('{"jsonrpc":"2.0","id":"last","method":"ping"}\n');
    await last;
  },
};
kinds["a batch"] = {
  version: "2025-03-26",
  run: async (s) => {
    const list = Array.from({ length: 1000 }, (_, i) => ({ jsonrpc: "2.0", id: i + 1000, method: "tools/list" }));
    s.raw(`${JSON.stringify(list)}\n`);
    await s.request("ping", {});
    await new Promise((r) => setTimeout(r, 1000));
  },
};

family("code");
for (const [name, code] of Object.entries({
  "open lists": "(".repeat(FULL),
  lists: "()".repeat(FULL / 2),
  definitions: lines(FULL / 30, (i) => `(defun f${String(i).padStart(7, "0")} (x) (1+ x))\n`),
  "broken definitions": lines(FULL / 30, (i) => `(defun f${String(i).padStart(7, "0")} (x) (1+ x)\n`),
  quotes: "'".repeat(FULL),
  backquotes: "`".repeat(FULL),
  comment: `#|${"x".repeat(FULL)}|#`,
  "open comment": `#|${"x".repeat(FULL)}`,
  "nested comments": "#|".repeat(FULL / 2),
  "comment lines": ";\n".repeat(FULL / 3),
  "one comment": `;${"x".repeat(FULL)}`,
  string: `"${"x".repeat(FULL)}"`,
  "string of lines": `"${"(x\n".repeat(FULL / 4)}"`,
  "string of backslashes": `"${"\\".repeat(FULL / 2)}"`,
  "open string": `"${"x".repeat(FULL)}`,
  bars: "|".repeat(FULL),
  "open bar": `|${"x".repeat(FULL)}`,
  colons: ":".repeat(FULL),
  dots: ".".repeat(FULL),
  escapes: "\\".repeat(FULL / 2),
  bits: `#*${"1".repeat(FULL)}`,
  octal: `#o${"1".repeat(FULL)}`,
  "radix digits": `#${"1".repeat(FULL)}r1`,
  character: `#\\${"x".repeat(FULL)}`,
  "hex character": `#\\U+${"1".repeat(FULL)}`,
  uninterned: `#:${"x".repeat(FULL)}`,
  unreadable: `#<${"x".repeat(FULL)}`,
  blanks: " ".repeat(FULL),
  tabs: "\t".repeat(FULL / 2),
  marks: "\ufeff".repeat(FULL / 3),
  "closing parentheses": ")".repeat(FULL),
  commas: ",".repeat(FULL),
  words: "a ".repeat(FULL / 2),
}))
  kinds[`validate-syntax, ${name}`] = { run: (s) => s.call("validate-syntax", { code }) };

family("answers");
for (const [name, code] of Object.entries({ ascii: 120, "non-ASCII": 233, wide: 0x4e00, quotes: 34, NUL: 0 })) {
  const bytes = code > 0x7ff ? 3 : code > 0x7f ? 2 : 1;
  for (const [answer, limit] of [["", 10000], [", long answer", 1000000]]) {
    kinds[`16 MiB twice, ${name}${answer}`] = {
      options: ["--max-output", String(limit)],
      run: (s) => s.eval(print((16 * 1024) / bytes, code)),
    };
  }
  kinds[`a value, ${name}`] = {
    run: (s) => s.eval(`(make-string ${Math.floor(FULL / bytes)} :initial-element (code-char ${code}))`),
  };
  kinds[`read-output, ${name}`] = {
    options: ["--max-output", "1000000"],
    run: async (s) => {
      await s.eval(print((16 * 1024) / bytes, code));
      await s.call("read-output", { id: 1, offset: Math.floor(FULL / bytes), limit: 1000000 });
      await s.call("read-output", { id: 2, offset: 0, limit: 1000000 });
    },
  };
  for (const [how, pattern] of [["", "no such"], [", much work", "(a|b|[^x]y)*z"]])
    kinds[`read-output, pattern${how}, ${name}`] = {
      run: async (s) => {
        await s.eval(print((16 * 1024) / bytes, code));
        await s.call("read-output", { id: 1, pattern });
      },
    };
  kinds[`resources/read of output, ${name}`] = {
    run: async (s) => {
      await s.eval(print((16 * 1024) / bytes, code));
      await s.request("resources/read", { uri: "lisp://session/main/output/1" });
    },
  };
}
kinds["16 MiB of invalid bytes"] = {
  run: (s) => s.eval(`(ext:system "head -c 16000000 /dev/zero | tr '\\\\0' '\\\\377'")`),
};
kinds["16 MiB of invalid bytes, resource"] = {
  run: async (s) => {
    await s.eval(`(ext:system "head -c 16000000 /dev/zero | tr '\\\\0' '\\\\377'")`);
    await s.request("resources/read", { uri: "lisp://session/main/output/1" });
  },
};

family("files");
const big = () => lines(500000, (i) => `line ${String(i).padStart(7, "0")} aaaaaaaaaaaaaaaaaaaa\n`);
const defs = () => lines(400000, (i) => `(defun f${i + 1} (x) (let ((y 1)) (+ x y)))\n`);
const allow = ["--allow", "propose-file-edit", "--allow", "write-file", "--allow", "edit-definition"];
const ends = (text) => text.replaceAll("\n", "\r\n");
for (const [name, make] of Object.entries({
  lines: big,
  "CR LF": () => ends(big().slice(0, 14 * MB)),
  "one line": () => "x".repeat(60 * MB),
  "one line, non-ASCII": () => "é".repeat(30 * MB),
  "Latin-1": () => Buffer.alloc(60 * MB, 0xe9),
  "Latin-1 lines": () => Buffer.from(big().replaceAll("a", "é"), "latin1"),
})) {
  const files = (s) => file(s, "f", make());
  kinds[`read-file, ${name}`] = { files, run: (s) => s.call("read-file", { path: "f" }) };
  kinds[`read-file, end, ${name}`] = { files, run: (s) => s.call("read-file", { path: "f", offset: 400000 }) };
  kinds[`search-files, ${name}`] = { files, run: (s) => s.call("search-files", { pattern: "xaaab" }) };
  kinds[`search-files, found, ${name}`] = { files, run: (s) => s.call("search-files", { pattern: "x" }) };
  kinds[`write-file over ${name}`] = {
    files, options: allow,
    run: (s) => s.call("write-file", { path: "f", content: big().slice(0, FULL).replaceAll("a\n", "b\n") }),
  };
  kinds[`propose-file-edit, ${name}`] = {
    files, options: allow,
    run: (s) => s.call("propose-file-edit", { path: "f", original: "line 0000001 ", modified: "line 2" }),
  };
}
kinds["write-file, CR LF text"] = {
  options: allow,
  run: (s) => s.call("write-file", { path: "f", content: ends(big().slice(0, 14 * MB)) }),
};
kinds["write-file, many lines over many"] = {
  files: (s) => file(s, "f", lines(400000, (i) => `${i}\n`)), options: allow,
  run: (s) => s.call("write-file", { path: "f", content: lines(400000, (i) => `${(i * 7919) % 400000}\n`) }),
};
kinds["1000 edits of 4 MB"] = {
  files: (s) => file(s, "f", big().slice(0, 4 * MB)), options: allow,
  run: (s) =>
    s.call("propose-file-edit", {
      path: "f",
      edits: Array.from({ length: 1000 }, (_, i) => ({ old: `line ${String(i * 100).padStart(7, "0")} `, new: `l ${i}` })),
    }),
};
kinds["an edit of 7 MB by 7 MB"] = {
  files: (s) => file(s, "f", big()), options: allow,
  run: (s) => s.call("propose-file-edit", { path: "f", original: big().slice(0, 7 * MB), modified: big().slice(0, 7 * MB).replaceAll("a\n", "b\n") }),
};
kinds["an edit, asked"] = {
  files: (s) => file(s, "f", big()), capabilities: { elicitation: {} },
  run: (s) => s.call("propose-file-edit", { path: "f", original: big().slice(0, 20000 * 30), modified: "y" }),
};
family("questions");
for (const [name, text] of Object.entries({ lines: "(f)\n", newlines: "\n", NUL: "\0", ascii: "x", bidi: "\u202e" }))
  kinds[`evaluate-lisp, asked, ${name}`] = {
    files: (s) => file(s, "../policy.json", JSON.stringify({ ask: ["evaluate-lisp"] })),
    options: ["--policy", "../policy.json"],
    capabilities: { elicitation: {} },
    run: (s) => s.eval(`#|${text.repeat(900000 / Buffer.byteLength(text))}|#1`),
  };
kinds["evaluate-lisp, asked, too long"] = {
  files: (s) => file(s, "../policy.json", JSON.stringify({ ask: ["evaluate-lisp"] })),
  options: ["--policy", "../policy.json"],
  capabilities: { elicitation: {} },
  run: (s) => s.eval(`#|${"\n".repeat(FULL / 2)}|#1`),
};
family("definitions");
kinds["edit-definition"] = {
  files: (s) => file(s, "f", defs()), options: allow,
  run: (s) => s.call("edit-definition", { path: "f", kind: "defun", name: "f400000", content: "(defun f400000 () 1)" }),
};
kinds["edit-definition, long content"] = {
  files: (s) => file(s, "f", defs()), options: allow,
  run: (s) => s.call("edit-definition", { path: "f", kind: "defun", name: "f400000", content: defs().slice(0, 14 * MB).replace(/[^\n]*$/, "") }),
};
kinds["edit-definition, one form"] = {
  files: (s) => file(s, "f", `(defun f () "${"x".repeat(FULL)}")`), options: allow,
  run: (s) => s.call("edit-definition", { path: "f", kind: "defun", name: "f", content: "(defun f () 1)" }),
};
kinds["edit-definition, not found"] = {
  files: (s) => file(s, "f", defs()), options: allow,
  run: (s) => s.call("edit-definition", { path: "f", kind: "defun", name: "nope", content: "(defun f () 1)" }),
};
kinds["list-directory"] = {
  files: (s) => {
    for (let i = 0; i < 10000; i++) file(s, `f${i}`, "");
  },
  run: (s) => s.call("list-directory", { path: "." }),
};
family("rules");
kinds["many rules"] = {
  files: (s) =>
    file(s, "../policy.json", JSON.stringify({ deny: Array.from({ length: 7000 }, (_, i) => `read-file in **/*a*b*${i}*/**`) })),
  options: ["--policy", "../policy.json"],
  run: (s) => s.call("read-file", { path: "a/".repeat(30000) + "b" }),
};
kinds["many rules, long name"] = {
  files: (s) =>
    file(s, "../policy.json", JSON.stringify({ deny: Array.from({ length: 7000 }, (_, i) => `read-file in **/*a*b*${i}*/**`) })),
  options: ["--policy", "../policy.json"],
  run: (s) => s.call("read-file", { path: "ab".repeat(120) + "/" + "a/".repeat(1800) + "b" }),
};
kinds["one rule, long"] = {
  files: (s) => file(s, "../policy.json", JSON.stringify({ deny: [`read-file in ${"*a".repeat(60000)}b/**`] })),
  options: ["--policy", "../policy.json"],
  run: (s) => s.call("read-file", { path: "a".repeat(4000) }),
};

async function measure(family, name, kind) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ecl-mcp-turns-"));
  const workspace = path.join(folder, "w");
  fs.mkdirSync(workspace);
  fs.mkdirSync(path.join(folder, "home"));
  kind.files?.({ workspace });
  const s = new Server(workspace, kind.options ?? []);
  await s.initialize(kind.capabilities, kind.version);
  await s.eval("1");
  const idle = s.memory("VmHWM");
  await kind.run(s);
  const after = await s.metrics();
  const most = s.memory("VmHWM") - idle;
  // a turn that was not longer than those before the call counts as such a one
  const ms = (field) => (after[field] / 1000).toFixed(1);
  console.log([family, ms("longestCpuUs"), ms("longestUs"), most.toFixed(0), name].join("\t"));
  await s.end();
  fs.rmSync(folder, { recursive: true });
}

const familyOf = (index) => families.findLast(([first]) => first <= index)[1];
for (const [index, [name, kind]] of Object.entries(kinds).entries())
  if (wanted.length === 0 || wanted.some((w) => name.includes(w))) await measure(familyOf(index), name, kind);
console.log("end");
