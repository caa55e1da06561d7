import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { cpuSecondsOf, familyCpuSeconds } from "../load/machine.ts";
import type { Fault } from "./fault.ts";

const MEASURED_MS = 60_000;
const SHORT_MEASURED_MS = 20_000;
/** After a start, caches fill and groups form. */
const QUIET_MS = 15_000;
const AIM = 0.03;
/** Of the short form: a collection of all garbage, which follows some seconds after the last request, may take up to a second. */
const SHORT_AIM = 0.06;

export const idle: Fault = {
  id: "F52",
  title: "Nothing happens",
  criterion: "the process uses less than 3 % of a core for a minute",
  inEveryRun: true,
  buses: ["kafka", "postgres"],
  async run({ stack, shop, database }, { full, report }) {
    await shop.settle();
    await sleep(QUIET_MS);
    const [pid = 0] = stack.pids();
    const { rows } = await database.query<{ pid: string }>(
      "select split_part(pg_read_file('postmaster.pid'), chr(10), 1) as pid",
    );
    const postmaster = Number(rows[0]?.pid);
    const before = { process: cpuSecondsOf(pid), postgres: familyCpuSeconds(postmaster) };
    const ms = full ? MEASURED_MS : SHORT_MEASURED_MS;
    await sleep(ms);
    const perMinute = (seconds: number): string => (seconds * (60_000 / ms)).toFixed(1);
    const used = cpuSecondsOf(pid) - before.process;
    report(
      `CPU seconds per minute: process ${perMinute(used)}, PostgreSQL ${perMinute(familyCpuSeconds(postmaster) - before.postgres)}`,
    );
    const share = used / (ms / 1_000);
    report(`${(share * 100).toFixed(1)} % of a core`);
    const aim = full ? AIM : SHORT_AIM;
    assert(share < aim, `the idle process uses more than ${aim * 100} % of a core`);
  },
};
