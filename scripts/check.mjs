// Runs all static checks, two at a time: most of them use little more than one processor. Every step
// runs, also after a failure; the output of a step is printed when it ends.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const GOLDEN_SCHEMAS = "services/shared/testing/src/golden-schemas.ts";
const AT_ONCE = 2;

/**
 * Longest first. A step runs programs, writes advice that they do not print, and returns whether it passed.
 *
 * @typedef {{ run: (program: string, ...args: string[]) => Promise<boolean>, write: (text: string) => void }} Context
 * @type {[string, (context: Context) => Promise<boolean>][]}
 */
const STEPS = [
  ["lint", ({ run }) => run("oxlint", "--type-aware", "--deny-warnings")],
  ["types", ({ run }) => run("tsc", "--noEmit", "-p", "tsconfig.json")],
  ["generated code", checkGenerated],
  ...(existsSync(GOLDEN_SCHEMAS)
    ? [["golden schemas", ({ run }) => run("node", GOLDEN_SCHEMAS, "--check")]]
    : []),
  ["dead code", ({ run }) => run("knip")],
  ["format", ({ run }) => run("oxfmt", "--check")],
  ["contract", ({ run }) => run("buf", "lint")],
  ["contract format", ({ run }) => run("buf", "format", "--diff", "--exit-code", "proto")],
  ["contract compatibility", checkCompatible],
];

const waiting = STEPS.values();
const results = [];
await Promise.all(Array.from({ length: AT_ONCE }, runSteps));
console.log("");
for (const { name, passed, seconds } of results) {
  console.log(`${passed ? "passed" : "FAILED"}  ${name} (${seconds} s)`);
}
const failures = results.filter(({ passed }) => !passed).length;
console.log(`check: ${results.length - failures} passed, ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;

async function runSteps() {
  for (const [name, step] of waiting) {
    const startedAt = Date.now();
    let output = "";
    const write = (text) => (output += text);
    const passed = await step({
      write,
      run: (program, ...args) => runProgram(program, args, write),
    });
    console.log(`\n── ${name}\n${output.trimEnd()}`);
    results.push({ name, passed, seconds: ((Date.now() - startedAt) / 1000).toFixed(1) });
  }
}

async function runProgram(program, args, write) {
  const child = spawn(program, args, {
    stdio: ["inherit", "pipe", "pipe"],
    shell: process.platform === "win32",
  });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", write);
  try {
    const [status] = await once(child, "close");
    return status === 0;
  } catch (error) {
    write(`${program}: ${error.message}\n`);
    return false;
  }
}

/** Compares with a stored image instead of the history of git, of which a clone may have a part only. */
async function checkCompatible({ run, write }) {
  if (await run("buf", "breaking", "proto", "--against", "proto/released.binpb.gz")) return true;
  write(
    "Callers and stored events of the last release would break: docs/events.md#evolution. For what no release contains, " +
      "store the new contract: node scripts/run.mjs node scripts/release-contract.mjs\n",
  );
  return false;
}

/** Generates the code into a temporary folder and compares, so that uncommitted work is checked too. */
async function checkGenerated({ run, write }) {
  const fresh = mkdtempSync(path.join(tmpdir(), "scrip-gen-"));
  try {
    if (!(await run("buf", "generate", "--output", fresh))) return false;
    const compare = ["--no-pager", "diff", "--no-index", "--stat", "--exit-code"];
    const same = await run("git", ...compare, "proto/gen", path.join(fresh, "proto/gen"));
    if (!same) write("The generated code does not match the contract. Run: npm run gen\n");
    return same;
  } finally {
    rmSync(fresh, { recursive: true });
  }
}
