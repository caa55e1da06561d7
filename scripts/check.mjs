// Runs all static checks. Every step runs, also after a failure.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const GOLDEN_SCHEMAS = "services/shared/testing/src/golden-schemas.ts";

/** @type {[string, () => boolean][]} */
const STEPS = [
  ["types", () => run("tsc", "--noEmit", "-p", "tsconfig.json")],
  ["lint", () => run("oxlint", "--type-aware", "--deny-warnings")],
  ["format", () => run("oxfmt", "--check")],
  ["dead code", () => run("knip")],
  ["contract", () => run("buf", "lint")],
  ["contract format", () => run("buf", "format", "--diff", "--exit-code", "proto")],
  ["contract compatibility", checkCompatible],
  ["generated code", checkGenerated],
  ...(existsSync(GOLDEN_SCHEMAS)
    ? [["golden schemas", () => run("node", GOLDEN_SCHEMAS, "--check")]]
    : []),
];

const results = STEPS.map(([name, step]) => {
  console.log(`\n── ${name}`);
  const startedAt = Date.now();
  const passed = step();
  return { name, passed, seconds: ((Date.now() - startedAt) / 1000).toFixed(1) };
});
console.log("");
for (const { name, passed, seconds } of results) {
  console.log(`${passed ? "passed" : "FAILED"}  ${name} (${seconds} s)`);
}
const failures = results.filter(({ passed }) => !passed).length;
console.log(`check: ${results.length - failures} passed, ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;

function run(program, ...args) {
  const { status, error } = spawnSync(program, args, {
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (error !== undefined) console.error(`${program}: ${error.message}`);
  return status === 0;
}

/** Compares with a stored image instead of the history of git, of which a clone may have a part only. */
function checkCompatible() {
  if (run("buf", "breaking", "proto", "--against", "proto/released.binpb.gz")) return true;
  console.error(
    "Callers and stored events of the last release would break: docs/events.md#evolution. For what no release contains, " +
      "store the new contract: node scripts/run.mjs node scripts/release-contract.mjs",
  );
  return false;
}

/** Generates the code into a temporary folder and compares, so that uncommitted work is checked too. */
function checkGenerated() {
  const fresh = mkdtempSync(path.join(tmpdir(), "scrip-gen-"));
  try {
    if (!run("buf", "generate", "--output", fresh)) return false;
    const compare = ["--no-pager", "diff", "--no-index", "--stat", "--exit-code"];
    const same = run("git", ...compare, "proto/gen", path.join(fresh, "proto/gen"));
    if (!same) console.error("The generated code does not match the contract. Run: npm run gen");
    return same;
  } finally {
    rmSync(fresh, { recursive: true });
  }
}
