import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import { describeMachine } from "./machine.ts";
import { measure } from "./measure.ts";
import { readOptions } from "./plan.ts";
import { openBenchDatabase } from "./postgres.ts";
import { profileRedemptions } from "./profile.ts";
import { formatReport } from "./report.ts";

const RESULTS = path.join(import.meta.dirname, "RESULTS.md");
// In the checkout and not in the system's temporary folder, which may be in memory.
const FOLDER = path.join(import.meta.dirname, "../..", `.scrip-bench-${process.pid}`);

async function main(): Promise<void> {
  const { plan, smoke, profile } = readOptions(process.argv.slice(2));
  const started = performance.now();
  await mkdir(FOLDER);
  try {
    await using postgres = await openBenchDatabase(path.join(FOLDER, "postgres"));
    const context = { plan, postgres, folder: FOLDER, log };
    const measured = await measure(context);
    const profiles = profile ? await profileRedemptions(context) : null;
    const report = formatReport({
      measured,
      profiles,
      plan,
      hasTargets: !smoke,
      machine: describeMachine(),
      date: new Date().toISOString().slice(0, 10),
      seconds: (performance.now() - started) / 1000,
    });
    process.stdout.write(`\n${report}`);
    if (smoke) log("smoke run: every acknowledged redemption is in the database");
    else await writeFile(RESULTS, report);
  } finally {
    await rm(FOLDER, { recursive: true, force: true });
  }
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

await main();
