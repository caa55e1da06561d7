import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { Client } from "pg";

import { inParallel } from "../stack/api.ts";
import { type Stack, startComposition } from "../stack/compositions.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { JOB_CASES, prepareCase, type RunningCase } from "./job-cases.ts";
import { openBenchDatabase } from "./postgres.ts";
import { table } from "./table.ts";

/**
 * Starts a job of every type, each in a project of its own, and kills the process at random points until they have ended;
 * then compares what they did with what was requested (README.md#killed-jobs).
 */
const { values: options } = parseArgs({
  options: {
    kills: { type: "string", default: "10" },
    /** Items of each job; orders have at most 2,000. */
    items: { type: "string", default: "8000" },
    /** The types of jobs, separated by commas; empty runs all. */
    only: { type: "string", default: "" },
    distributed: { type: "boolean", default: false },
  },
});
const KILLS = Number(options.kills);
/** Jobs take turns, so that each of them is interrupted in its slices too. */
const LONGEST_MS = 6_000;
const POLL_MS = 100;
const STARTS = 5;
/** Heavy requests beyond these are rejected for the moment. */
const STARTS_AT_ONCE = 2;

const folder = await mkdtemp(path.join(tmpdir(), "scrip-kill-bench-"));
try {
  await using database = await openBenchDatabase(path.join(folder, "postgres"));
  const url = await database.create("kills");
  await using stack = await startComposition(options.distributed ? "distributed" : "standalone", {
    database: { url, [Symbol.asyncDispose]: async () => {} },
    env: { SCRIP_LOG_LEVEL: "error" },
  });
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  const wanted = options.only.split(",").filter((name) => name !== "");
  const cases = JOB_CASES.filter(({ type }) => wanted.length === 0 || wanted.includes(type));
  const starts: (() => Promise<RunningCase>)[] = [];
  for (const each of cases) starts.push(await prepareCase(stack, each, Number(options.items)));
  const running = await inParallel(starts, STARTS_AT_ONCE, (start) => start());
  console.log(`started ${running.length} jobs`);
  const hits = await killUntilDone(stack, client, running);
  const rows: string[][] = [];
  for (const each of running) {
    const faults = await each.check(client);
    rows.push([
      each.type,
      String(hits.get(each.id) ?? 0),
      String(each.items),
      faults.join("; ") || "exact",
    ]);
  }
  process.stdout.write(table(["job", "kills before its end", "items", "outcome"], rows));
  const violations = await invariantViolations(stack);
  console.log(violations.length === 0 ? "all invariants hold" : violations.join("\n"));
  if (violations.length > 0 || rows.some((row) => row.at(-1) !== "exact")) process.exitCode = 1;
  await client.end();
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Returns how often the process was killed while each job was unfinished. */
async function killUntilDone(
  stack: Stack,
  client: Client,
  running: readonly RunningCase[],
): Promise<ReadonlyMap<string, number>> {
  const hits = new Map<string, number>();
  for (let kill = 1; ; kill += 1) {
    await sleep(Math.random() * LONGEST_MS);
    const unfinished = await unfinishedOf(client, running);
    if (unfinished.length === 0) return hits;
    if (kill > KILLS) break;
    await crash(stack);
    for (const id of unfinished) hits.set(id, (hits.get(id) ?? 0) + 1);
    console.log(`kill ${kill}: ${unfinished.length} jobs were unfinished`);
    await claimedAgain(client);
  }
  while ((await unfinishedOf(client, running)).length > 0) await sleep(POLL_MS);
  return hits;
}

/** On a busy machine a process may not be ready in time. */
async function crash(stack: Stack): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await stack.crash(options.distributed ? "export" : undefined);
      return;
    } catch (error) {
      if (attempt === STARTS) throw error;
    }
  }
}

async function unfinishedOf(
  client: Client,
  running: readonly RunningCase[],
): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>(
    "select id from export.job where id = any($1) and finished_at is null",
    [running.map(({ id }) => id)],
  );
  return rows.map(({ id }) => id);
}

/** Waits until another process has continued a job: the turns of a dead one are released after some seconds. */
async function claimedAgain(client: Client): Promise<void> {
  const runs = async (): Promise<string> => {
    const { rows } = await client.query<{ runs: string }>(
      "select sum(run) as runs from export.job",
    );
    return rows[0]?.runs ?? "0";
  };
  const before = await runs();
  const deadline = performance.now() + 60_000;
  while ((await runs()) === before && performance.now() < deadline) await sleep(POLL_MS);
}
