// SPDX-License-Identifier: GPL-3.0-or-later
// client.mjs: calls evaluate-lisp one after the other, like a client made with
// an SDK: child_process, lines, JSON, a promise for each call.
//   node client.mjs SERVER ECHO FLOOR LOG
// prints the median time of a call in milliseconds, to SERVER, to ECHO with two
// processes, and to FLOOR with all system calls, measured in turns.
import { spawn } from "node:child_process";

const WARM_UP = 500;
const ROUNDS = 10;
const CALLS = 300;

class Client {
  #process;
  #waiting = new Map();
  #rest = Buffer.alloc(0);
  #lastId = 0;

  constructor([command, ...words]) {
    this.#process = spawn(command, words, { stdio: ["pipe", "pipe", "ignore"] });
    this.#process.on("error", fail);
    this.#process.on("exit", (status) => status && fail(`status ${status}`));
    this.#process.stdout.on("data", (chunk) => this.#take(chunk));
  }

  #take(chunk) {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const end = this.#rest.indexOf(10);
      if (end < 0) return;
      const message = JSON.parse(this.#rest.toString("utf8", 0, end));
      this.#rest = this.#rest.subarray(end + 1);
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    }
  }

  #send(message) {
    this.#process.stdin.write(`${JSON.stringify(message)}\n`);
  }

  request(method, params) {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ jsonrpc: "2.0", id, method, params });
    });
  }

  async initialize() {
    await this.request("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "bench", version: "1" },
    });
    this.#send({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  // Adds the milliseconds of N calls to TIMES.
  async call(n, times) {
    for (let i = 0; i < n; i++) {
      const start = performance.now();
      const { result } = await this.request("tools/call", {
        name: "evaluate-lisp",
        arguments: { code: "(+ 1 2)" },
      });
      times.push(performance.now() - start);
      if (result?.content[0].text !== "=> 3") fail("a wrong answer");
    }
  }

  end() {
    this.#process.stdin.end();
  }
}

function fail(why) {
  console.error(`client.mjs: ${why}`);
  process.exit(1);
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1];
}

const [server, echo, floor, log] = process.argv.slice(2);
const commands = [[server], [echo, "two"], [floor, log, "all"]];
const clients = commands.map((command) => new Client(command));
const times = clients.map(() => []);
for (const client of clients) {
  await client.initialize();
  await client.call(WARM_UP, []);
}
for (let round = 0; round < ROUNDS; round++)
  for (const [i, client] of clients.entries()) await client.call(CALLS, times[i]);
console.log(...times.map((list) => median(list).toFixed(4)));
for (const client of clients) client.end();
