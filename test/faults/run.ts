import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";

import { describeMachine } from "../load/machine.ts";
import { table } from "../load/table.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { ROOT } from "../stack/process.ts";
import type { Experiment, Fault } from "./fault.ts";
import { FAULTS } from "./faults.ts";
import { type Bus, type Installation, withInstallation } from "./installation.ts";

/** `npm run faults -- F12 F16`: runs faults, all of them without arguments (README.md). */
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Only with events in `postgres` or `kafka`. */
    bus: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    /** Writes RESULTS.md. */
    write: { type: "boolean", default: false },
  },
});
const FULL = process.env["FULL"] === "1";
const SEED = Number(options.seed);
const RESULTS = new URL("RESULTS.md", import.meta.url);

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

const machineLoad = (): string => `load of the machine ${loadavg()[0]?.toFixed(0)}`;

type Result = {
  readonly fault: Fault;
  readonly bus: Bus | undefined;
  readonly passed: boolean;
  readonly lines: readonly string[];
};

const wanted = new Set(positionals.map((id) => id.toUpperCase()));
const unknown = [...wanted].filter((id) => !FAULTS.some((fault) => fault.id === id));
if (unknown.length > 0) {
  console.error(`faults: there is no fault ${unknown.join(", ")}`);
  process.exit(2);
}

console.log(`seed ${SEED} · ${FULL ? "full" : "short"} · ${describeMachine()}`);
const results: Result[] = [];
for (const fault of FAULTS) {
  if (wanted.size > 0 ? !wanted.has(fault.id) : !fault.inEveryRun && !FULL) continue;
  if ("tests" in fault) {
    results.push(record(fault, undefined, runTests(fault.tests), [fault.tests.join(", ")]));
    continue;
  }
  for (const bus of fault.buses) {
    if (options.bus === undefined || options.bus === bus) results.push(await runFault(fault, bus));
  }
}
if (options.write) writeFileSync(RESULTS, resultsPage());
const failed = results.filter(({ passed }) => !passed).length;
console.log(`faults: ${results.length - failed} passed, ${failed} failed (seed ${SEED})`);
process.exitCode = failed === 0 ? 0 : 1;

async function runFault(fault: Experiment, bus: Bus): Promise<Result> {
  const lines: string[] = [];
  const report = (line: string): void => {
    lines.push(line);
    console.log(`  ${line}`);
  };
  console.log(`\n${fault.id} ${fault.title} (${bus})`);
  const startedAt = performance.now();
  try {
    const setup = typeof fault.setup === "function" ? fault.setup() : fault.setup;
    await withInstallation({ bus, ...setup }, async (installation) => {
      const random = randomFrom(SEED);
      await fault.run(installation, { full: FULL, random, report });
      // A repetition that arrives late would change the balances.
      await installation.shop.pay(installation.shop.cards.length);
      await installation.shop.settle();
      const violations = await violationsIn(installation);
      if (violations.length > 0) throw new Error(violations.join("\n"));
    });
    report(`books exact, invariants hold; ${seconds(performance.now() - startedAt)} in all`);
    return record(fault, bus, true, [...lines, machineLoad()]);
  } catch (error) {
    console.error(error);
    return record(fault, bus, false, [...lines, String(error), machineLoad()]);
  }
}

function violationsIn({ stack, kafka }: Installation): Promise<readonly string[]> {
  const env = kafka === undefined ? {} : { SCRIP_KAFKA_BROKERS: kafka.brokers };
  return invariantViolations(stack, undefined, env);
}

function runTests(files: readonly string[]): boolean {
  const { status } = spawnSync("vitest", ["run", ...files], { cwd: ROOT, stdio: "inherit" });
  return status === 0;
}

function record(
  fault: Fault,
  bus: Bus | undefined,
  passed: boolean,
  lines: readonly string[],
): Result {
  console.log(`${fault.id} ${passed ? "passed" : "FAILED"}`);
  return { fault, bus, passed, lines };
}

/** mulberry32: the same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function resultsPage(): string {
  const rows = results.map(({ fault, bus, passed, lines }) => [
    fault.id,
    fault.title,
    bus ?? "tests",
    fault.criterion,
    passed ? "passed" : "failed",
    lines.join("; "),
  ]);
  const columns = ["Fault", "What fails", "Events in", "Criterion", "Result", "Measured"];
  return `# Results of the faults\n
Written on ${new Date().toISOString().slice(0, 10)} by \`npm run faults -- --write\` with seed ${SEED}, in the ${FULL ? "full" : "short"} form; ${describeMachine()}. Other programs used the
machine at the same time: durations depend on its load.\n
${table(columns, rows)}`;
}
