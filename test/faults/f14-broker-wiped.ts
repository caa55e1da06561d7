import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { ROOT } from "../stack/process.ts";
import type { Fault } from "./fault.ts";
import { brokerIn } from "./installation.ts";
import { describeLoad, PER_SECOND, WARM_UP_MS } from "./load.ts";

const LOADED_MS = 5_000;
const run = promisify(execFile);

export const brokerWiped: Fault = {
  id: "F14",
  title: "Kafka loses all its data, while all processes run",
  criterion:
    "no request fails; `scrip events republish` restores the events; each has its effect once",
  inEveryRun: false,
  buses: ["kafka"],
  async run(installation, { report }) {
    const { stack, shop, database } = installation;
    const broker = brokerIn(installation);
    const startedAt = new Date().toISOString();
    const load = shop.load(PER_SECOND);
    await sleep(WARM_UP_MS);
    // Consumers wait, so that the log loses events that nobody has handled.
    await database.query("begin");
    await database.query("lock table loyalty.inbox in access exclusive mode");
    await sleep(LOADED_MS);
    await broker.wipe();
    await broker.restart();
    await database.query("commit");
    await sleep(LOADED_MS);
    const result = await load.stop();
    report(describeLoad(result));
    const { stdout } = await run(
      process.execPath,
      ["cli/src/main.ts", "events", "republish", "--since", startedAt],
      { cwd: ROOT, env: { PATH: process.env["PATH"], DATABASE_URL: stack.databaseUrl } },
    );
    report(stdout.trim().split("\n").slice(1).join(", "));
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
    assert(result.failures === 0, "requests failed while Kafka lost its data");
  },
};
