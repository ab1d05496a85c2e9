// SPDX-License-Identifier: GPL-3.0-or-later
// turns.mjs: the longest turn of the server's loop, and the most memory that the
// server takes, for calls of each kind at full size.
//   node turns.mjs [--runs N] SERVER [KIND...]
// prints a line for each kind, or each whose name contains a KIND, with tabs
// between: its family; the milliseconds of the processor's time and of the clock
// that the longest turn took; megabytes beyond those of an idle server, and how
// many of them are not the call's own text: the longest message of each side, and
// the files as they were; its name. The server measures its turns itself
// (lisp://metrics). With --runs the least of N runs counts: what the machine was
// busy with otherwise does not. "Too long" or "too large" follows the name of a
// kind that takes more than 20 ms of the processor or 64 MB beyond its text.
import { isUtf8 } from "node:buffer";
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Editor } from "../support/editor.mjs";

const words = process.argv.slice(2);
const runs = words[0] === "--runs" ? Number(words.splice(0, 2)[1]) : 1;
const [program, ...wanted] = words;
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
  sent = 0; // bytes of the longest message
  heard = 0;

  constructor(workspace, options) {
    this.workspace = workspace;
    this.#process = spawn(server, options, {
      cwd: workspace,
      env: {
        ...process.env,
        HOME: path.join(workspace, "..", "home"),
        ECL_MCP_EMACS: path.join(workspace, "..", "emacs.sock"),
      },
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
      this.heard = Math.max(this.heard, line.length);
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
    this.sent = Math.max(this.sent, Buffer.byteLength(text));
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
    return Number(status.match(new RegExp(`^${field}:\\s*(\\d+)`, "m"))[1]) * 1024;
  }

  end() {
    this.#process.stdin.end();
    return new Promise((resolve) => this.#process.on("exit", resolve));
  }
}

const kinds = {};
const families = []; // each with the index of its first kind
const family = (name) => families.push([Object.keys(kinds).length, name]);

// The bytes of the texts of the files in FOLDER: as UTF-8, in which a byte of
// Latin-1 may be two.
function sizeOf(folder) {
  const texts = fs.readdirSync(folder).map((name) => fs.readFileSync(path.join(folder, name)));
  const high = (text) => (isUtf8(text) ? 0 : text.reduce((n, byte) => n + (byte >> 7), 0));
  return texts.reduce((sum, text) => sum + text.length + high(text), 0);
}
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
kinds["many calls at once, many sessions"] = {
  run: (s) => Promise.all([...Array(255).keys()].map((i) => s.eval("1", { session: `s${i}` }))).then(() => kinds["many calls at once"].run(s)),
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
  const part = (s) => file(s, "f", make().slice(0, 4 * MB)); // what is searched
  kinds[`search-files, ${name}`] = { files: part, run: (s) => s.call("search-files", { pattern: "xaaab" }) };
  kinds[`search-files, found, ${name}`] = { files: part, run: (s) => s.call("search-files", { pattern: "[lx]", regex: true }) };
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
family("undo");
kinds["restore-session, behind long code"] = {
  run: async (s) => {
    await s.eval(`(defvar *x* "${"x".repeat(FULL - 100)}")`);
    await s.eval("(setf *x* 1)");
    await s.call("restore-session", { back: 2 });
  },
};
kinds["evaluate-lisp, many forms"] = {
  run: (s) => s.eval(lines(FULL / 60, (i) => `(defun f${String(i % 1000).padStart(7, "0")} (x) (list x 1 2 3 4 5 6 7))\n`), { timeout: 50 }),
};

// Kinds with an editor: ANSWER gives the result of each of its requests, and
// BEGIN says something to the server first.
family("editor");
const approve = ({ method }) => (method === "approve" ? { decision: "approve" } : null);
kinds["editor, a change of many lines"] = {
  files: (s) => file(s, "f", big()), answer: approve,
  run: (s) => s.call("propose-file-edit", { path: "f", original: big().slice(0, 20000 * 30), modified: "y" }),
};
kinds["editor, a new file of 14 MB"] = {
  answer: approve, run: (s) => s.call("write-file", { path: "f", content: big().slice(0, 14 * MB) }),
};
kinds["editor, a long reason"] = {
  answer: ({ method }) => (method === "approve" ? { decision: "deny", reason: "é".repeat(FULL) } : null),
  run: (s) => s.call("write-file", { path: "f", content: "x" }),
};
kinds["editor, other arguments"] = {
  answer: ({ method, params }) => method !== "approve" ? null :
    params.arguments.content.length > 10 ? { decision: "approve" } :
      { decision: "approve", arguments: { path: "f", content: big().slice(0, 14 * MB) } },
  run: (s) => s.call("write-file", { path: "f", content: "x" }),
};
kinds["editor, a buffer"] = {
  files: (s) => file(s, "f", "x\n"),
  answer: ({ method, params }) => {
    const text = big().slice(0, 8 * MB);
    if (method === "text") return { text, modified: true };
    if (method !== "approve") return null;
    const { lines: hunk } = params.review.hunks[0];
    const after = text.replace("line 0000001 ", "line 2 ");
    return { decision: "approve", hunks: [{ accept: hunk.length > 0 }], applied: { before: text, after, saved: false, note: "-" } };
  },
  run: (s) => s.call("propose-file-edit", { path: "f", original: "line 0000001 ", modified: "line 2 " }),
};
kinds["editor, a buffer that is too long"] = {
  files: (s) => file(s, "f", "x\n"),
  answer: ({ method }) => (method === "text" ? { text: "\u0001".repeat(9 * MB), modified: true } : null),
  run: (s) => s.call("propose-file-edit", { path: "f", original: "x", modified: "y" }),
};
kinds["editor, unsaved texts"] = {
  files: (s) => file(s, "f.lisp", "(defun f () 1)\n"),
  answer: ({ method }, s) => method === "approve" ? { decision: "deny" } :
    method !== "unsaved" ? null : { files: [{ path: path.join(s.workspace, "f.lisp"), text: defs().slice(0, 8 * MB) }] },
  run: (s) => s.call("rename-symbol", { symbol: "f1", to: "g1" }),
};
for (const [name, text] of Object.entries({ ascii: "x".repeat(FULL), "non-ASCII": "é".repeat(FULL), NUL: "\0".repeat(FULL / 2) }))
  kinds[`editor, the answer of a tool, ${name}`] = {
    begin: (editor) => editor.notify("tools", { tools: [{ name: "long", description: "x", level: "safe" }] }),
    answer: () => ({ text, error: false }),
    run: async (s) => {
      const isThere = ({ result }) => result.tools.some(({ name }) => name === "long");
      while (!isThere(await s.request("tools/list", {})));
      await s.call("long", {});
    },
  };
kinds["editor, many notifications"] = {
  answer: approve,
  begin: (editor) => editor.send(lines(100000, (i) => `{"jsonrpc":"2.0","method":"working","params":{"id":${i}}}\n`)),
  run: (s) => s.call("write-file", { path: "f", content: "x" }),
};
kinds["editor, nonsense"] = {
  answer: approve,
  begin: (editor) => editor.send(`["${"x".repeat(60 * MB)}`),
  run: (s) => s.call("write-file", { path: "f", content: "x" }),
};
kinds["editor, many lists of tools"] = {
  answer: approve,
  begin: (editor) => {
    for (let i = 0; i < 100; i++)
      editor.notify("tools", { tools: Array.from({ length: 64 }, (_, j) => ({ name: `tool-${i}-${j}`, description: "x".repeat(1900), level: "safe" })) });
  },
  run: (s) => s.call("write-file", { path: "f", content: "x" }),
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
const LISP = "(defpackage :p (:use :cl))\n(in-package :p)\n";
const uses = () => LISP + lines(30000, (i) => `(defun f${i + 1} (x) (widget x))\n`);
const may = ["rename-symbol", "propose-changes", "delete-file", "move-file", "write-file"].flatMap((name) => ["--allow", name]);
kinds["rename-symbol"] = {
  files: (s) => file(s, "f.lisp", LISP + defs().slice(0, 4 * MB).replace(/[^\n]*$/, "")), options: may,
  run: (s) => s.call("rename-symbol", { symbol: "p::f90000", to: "g1" }),
};
kinds["rename-symbol, many places"] = {
  files: (s) => file(s, "f.lisp", uses()), options: may,
  run: (s) => s.call("rename-symbol", { symbol: "p::widget", to: "gadget" }),
};
kinds["rename-symbol, many files"] = {
  files: (s) => {
    for (let i = 0; i < 20; i++) file(s, `f${i}.lisp`, uses());
  },
  options: may,
  run: (s) => s.call("rename-symbol", { symbol: "p::widget", to: "gadget" }),
};
kinds["propose-changes"] = {
  files: (s) => file(s, "f", big()), options: may,
  run: (s) => s.call("propose-changes", { edits: [{ path: "f", old: "line 0000001 ", new: "line 2 " }, { path: "g", new: big().slice(0, 7 * MB) }] }),
};
kinds["delete-file"] = {
  files: (s) => file(s, "f", "x".repeat(60 * MB)), options: may, run: (s) => s.call("delete-file", { path: "f" }),
};
kinds["move-file"] = {
  files: (s) => file(s, "f", "x".repeat(60 * MB)), options: may, run: (s) => s.call("move-file", { path: "f", to: "g" }),
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

// Answers what EDITOR is asked, until it is closed.
async function edit(editor, answer, s) {
  while (editor.path) {
    const heard = await editor.until(() => editor.heard.shift(), 1);
    if (heard?.message.id === undefined || !heard.message.method) continue;
    const { id } = heard.message;
    editor.send(JSON.stringify({ jsonrpc: "2.0", id, result: answer(heard.message, s) }));
  }
}

async function measure(kind) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ecl-mcp-turns-"));
  const workspace = path.join(folder, "w");
  fs.mkdirSync(workspace);
  fs.mkdirSync(path.join(folder, "home"));
  kind.files?.({ workspace });
  const files = sizeOf(workspace);
  const editor = kind.answer && new Editor(path.join(folder, "emacs.sock"));
  await editor?.listen();
  const s = new Server(workspace, kind.options ?? []);
  await s.initialize(kind.capabilities, kind.version);
  await s.eval("1");
  if (editor) {
    if (!(await editor.until(() => editor.connected, 10))) fail("no connection to the editor");
    edit(editor, kind.answer, s);
    kind.begin?.(editor);
  }
  const idle = s.memory("VmHWM");
  await kind.run(s);
  const after = await s.metrics();
  const most = s.memory("VmHWM") - idle;
  const own = files + s.sent + s.heard + (editor?.longest ?? 0);
  editor?.close();
  if (editor) editor.path = undefined;
  await s.end();
  fs.rmSync(folder, { recursive: true });
  // a turn that was not longer than those before the call counts as such a one
  return [after.longestCpuUs / 1000, after.longestUs / 1000, most / MB, Math.max(0, most - own) / MB];
}

async function report(family, name, kind) {
  let least = await measure(kind);
  for (let run = 1; run < runs; run++) {
    const more = await measure(kind);
    least = least.map((figure, i) => Math.min(figure, more[i]));
  }
  const [cpu, clock, all, beyond] = least;
  const faults = `${cpu > 20 ? ": too long" : ""}${beyond > 64 ? ": too large" : ""}`;
  console.log([family, cpu.toFixed(1), clock.toFixed(1), all.toFixed(0), beyond.toFixed(0), name + faults].join("\t"));
}

const familyOf = (index) => families.findLast(([first]) => first <= index)[1];
for (const [index, [name, kind]] of Object.entries(kinds).entries())
  if (wanted.length === 0 || wanted.some((w) => name.includes(w))) await report(familyOf(index), name, kind);
console.log("end");
