import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { query } from "../load/postgres.ts";
import { newCode } from "../stack/api.ts";
import type { Fault } from "./fault.ts";
import { describeLoad, PER_SECOND, WARM_UP_MS } from "./load.ts";
import { until } from "./shop.ts";

const KILLS = 3;
const MAX_RECOVERY_MS = 5_000;

export const postgresKilled: Fault = {
  id: "F06",
  title: "PostgreSQL is killed three times under load",
  criterion: "what was acknowledged is stored; requests succeed within 5 s of its return",
  inEveryRun: true,
  buses: ["postgres"],
  async run({ stack, shop }, { report }) {
    const load = shop.load(PER_SECOND);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(WARM_UP_MS);
      const [row] = await query<{ pid: string }>(stack.databaseUrl, POSTMASTER);
      process.kill(Number(row?.pid), "SIGKILL");
      // The server is started again by the process that it belongs to.
      await until(async () => (await query(stack.databaseUrl, "select")).length === 1);
      const returnedAt = performance.now();
      await until(
        async () =>
          (await shop.api.post("/v1/customers", { source_id: newCode("probe") })).status === 200,
      );
      const ms = performance.now() - returnedAt;
      report(`kill ${kill + 1}: a write succeeds ${ms.toFixed(0)} ms after the return`);
      assert(ms < MAX_RECOVERY_MS, "the connections have not recovered in time");
    }
    report(describeLoad(await load.stop()));
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
  },
};

const POSTMASTER = "select split_part(pg_read_file('postmaster.pid'), chr(10), 1) as pid";
