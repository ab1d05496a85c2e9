// SPDX-License-Identifier: GPL-3.0-or-later
// run.mjs: compares the diff engine with diff(1) and patch(1), on random texts
// and on sources of this project with random changes, the same in each run.
// run.mjs DIFFER [SEED]
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const differ = process.argv[2];
const seed = Number(process.argv[3] ?? 1);
const folder = mkdtempSync(join(tmpdir(), "ecl-mcp-diff-"));
const file = (name) => join(folder, name);

let moved = 0; // texts whose hunks were all found again
let state = seed >>> 0;
function random(n) { // 0 … n - 1
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 4294967296) * n);
}

const randomText = (lines, words) => {
  let text = "";
  for (let i = 0; i < lines; i++) text += `w${random(words)}\n`;
  return random(4) === 0 ? text.slice(0, -1) : text;
};

function mutate(text) {
  const lines = text.split("\n");
  for (let n = 1 + random(12); n > 0; n--) {
    const at = random(lines.length);
    const some = Array.from({ length: 1 + random(4) }, () => `new ${random(9)}`);
    if (random(3) === 0) lines.splice(at, 1 + random(6));
    else if (random(2) === 0) lines.splice(at, 0, ...some);
    else lines.splice(at, 1 + random(3), ...some);
  }
  return lines.join("\n");
}

function run(program, args, options = {}) {
  const got = spawnSync(program, args, { encoding: "buffer", maxBuffer: 1 << 28, ...options });
  if (got.error) throw got.error;
  return got;
}

const latin = (buffer) => buffer.toString("latin1");
const changedLines = (diff) => diff.split("\n").slice(2).filter((l) => /^[-+]/.test(l)).length;

function ours(...more) {
  const got = run(differ, [file("old"), file("new"), ...more]);
  if (got.status !== 0) throw new Error(`differ: ${latin(got.stderr)}`);
  return got;
}

function patched(base, diff) {
  writeFileSync(file("patched"), base, "latin1");
  const got = run("patch", ["--force", "--silent", "--fuzz=0", "--posix", file("patched")],
    { input: Buffer.from(diff, "latin1") });
  if (got.status !== 0) throw new Error(`patch refuses: ${latin(got.stdout)}`);
  return latin(readFileSync(file("patched")));
}

const hunksOf = (diff) => diff.split(/^(?=@@ )/m).slice(1);

function compare(before, after) {
  writeFileSync(file("old"), before, "latin1");
  writeFileSync(file("new"), after, "latin1");
  const diff = latin(ours().stdout);
  const gnu = latin(run("diff", ["-a", "-u", "--label", "a/text", "--label", "b/text", file("old"), file("new")]).stdout);
  if (before === after) {
    if (diff !== "") throw new Error("equal texts differ");
    return;
  }
  if (changedLines(diff) > changedLines(gnu))
    throw new Error(`${changedLines(diff)} lines changed, diff(1) needs ${changedLines(gnu)}`);
  if (before !== "" && after !== "" && patched(before, diff) !== after)
    throw new Error("patch(1) makes a different text from our diff");
  const hunks = hunksOf(diff);
  const all = "1".repeat(hunks.length);
  if (latin(ours(all).stdout) !== after) throw new Error("all hunks do not give the new text");
  if (latin(ours("0".repeat(hunks.length)).stdout) !== before) throw new Error("no hunk changes the text");
  const choice = Array.from(all, () => random(2)).join("");
  const subset = latin(ours(choice).stdout);
  const chosen = hunks.filter((_, i) => choice[i] === "1");
  if (chosen.length > 0 && before !== "" && after !== "") {
    const head = "--- a/text\n+++ b/text\n";
    if (patched(before, head + chosen.join("")) !== subset)
      throw new Error(`patch(1) makes a different text from the hunks ${choice}`);
  }
  // The same hunks in a text with new lines at its start.
  if (before !== "" && !/^(w|new )/.test(before)) {
    writeFileSync(file("grown"), "; grown\n; twice\n" + before, "latin1");
    const got = ours(choice, file("grown"));
    const outcomes = latin(got.stderr).trim();
    if (!outcomes.includes("s") && latin(got.stdout) !== "; grown\n; twice\n" + subset)
      throw new Error("moved hunks give a different text");
    moved += outcomes.includes("a") && !outcomes.includes("s");
  }
}

const cases = [
  ["empty and empty", () => ["", ""]],
  ["empty and text", () => ["", "a\nb\n"]],
  ["text and empty", () => ["a\nb", ""]],
  ["no line feed at the end, then one", () => ["a\nb", "a\nb\n"]],
  ["one at the end, then none", () => ["a\nb\n", "a\nb"]],
  ["CR LF against LF", () => ["a\r\nb\r\n", "a\nb\n"]],
  ["bytes that are not UTF-8", () => ["\xff\xfe\n\x00\n", "\xff\xfe\n\x01\n\x00\n"]],
];
for (const words of [1, 2, 3, 10, 100])
  for (let i = 0; i < 12; i++) {
    cases.push([`random texts of ${words} words, ${i}`,
      () => [randomText(random(60), words), randomText(random(60), words)]]);
    cases.push([`a random text of ${words} words and a change, ${i}`, () => {
      const text = randomText(random(300), words);
      return [text, mutate(text)];
    }]);
  }
const sources = execFileSync("sh", ["-c", "ls core/*/*.c lisp/*.lisp README.md Makefile"]).toString().trim().split("\n");
for (let i = 0; i < 60; i++) {
  const name = sources[random(sources.length)];
  cases.push([`${name} and a change, ${i}`, () => {
    const text = latin(readFileSync(name));
    return [text, mutate(text)];
  }]);
}
cases.push(["50,000 lines that have nothing in common", () =>
  [Array.from({ length: 50000 }, (_, i) => `a${i}\n`).join(""),
    Array.from({ length: 50000 }, (_, i) => `b${i}\n`).join("")]]);
// More than LIMIT_DIFF_STEPS: the diff is right, but not the shortest.
function compareLong() {
  writeFileSync(file("old"), randomText(60000, 40), "latin1");
  writeFileSync(file("new"), randomText(60000, 40), "latin1");
  const hunks = hunksOf(latin(ours().stdout));
  if (latin(ours("1".repeat(hunks.length)).stdout) !== latin(readFileSync(file("new"))))
    throw new Error("all hunks do not give the new text");
}

let passed = 0;
let failed = 0;
for (const [name, make] of [...cases, ["texts that are too different", null]]) {
  try {
    if (make) compare(...make());
    else compareLong();
    passed++;
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}: ${error.message} (seed ${seed})`);
  }
}
if (moved < 30) { // of some 60 changed sources
  failed++;
  console.log(`FAIL moved hunks: found again in ${moved} texts only`);
}
rmSync(folder, { recursive: true, force: true });
console.log(`diff: ${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
