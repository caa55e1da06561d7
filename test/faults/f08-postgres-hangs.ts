import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { newCode } from "../stack/api.ts";
import type { Fault } from "./fault.ts";
import { describeLoad, PER_SECOND, WARM_UP_MS } from "./load.ts";
import { until } from "./shop.ts";

const HANGING_MS = 20_000;
/** The deadline of a request, and the time in which it is noticed. */
const MAX_RESPONSE_MS = 8_500;
const MAX_RECOVERY_MS = 5_000;
const PROBES = 8;

export const postgresHangs: Fault = {
  id: "F08",
  title: "PostgreSQL hangs for 20 s, with its connections open",
  criterion: "each request gets 503 or 504 within 8 s; requests succeed within 5 s afterwards",
  inEveryRun: false,
  buses: ["postgres"],
  async run({ shop, database }, { report }) {
    const load = shop.load(PER_SECOND);
    await sleep(WARM_UP_MS);
    const { rows } = await database.query<{ pid: number }>(
      "select pid from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()",
    );
    const signalAll = (signal: NodeJS.Signals): void => {
      for (const { pid } of rows) process.kill(pid, signal);
    };
    signalAll("SIGSTOP");
    const statuses = new Set<number>();
    let slowestMs = 0;
    try {
      const endsAt = performance.now() + HANGING_MS;
      const probe = async (): Promise<void> => {
        while (performance.now() < endsAt) {
          const startedAt = performance.now();
          const { status } = await shop.api.post("/v1/customers", { source_id: newCode("probe") });
          slowestMs = Math.max(slowestMs, performance.now() - startedAt);
          statuses.add(status);
          await sleep(100);
        }
      };
      await Promise.all(Array.from({ length: PROBES }, probe));
    } finally {
      signalAll("SIGCONT");
    }
    const returnedAt = performance.now();
    await until(
      async () =>
        (await shop.api.post("/v1/customers", { source_id: newCode("probe") })).status === 200,
    );
    const recoveryMs = performance.now() - returnedAt;
    report(`responses ${[...statuses].join(", ")}, the slowest after ${slowestMs.toFixed(0)} ms`);
    report(`a write succeeds ${recoveryMs.toFixed(0)} ms after the return`);
    report(describeLoad(await load.stop()));
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
    assert(slowestMs < MAX_RESPONSE_MS, "a request waited for too long");
    assert(recoveryMs < MAX_RECOVERY_MS, "the connections have not recovered in time");
  },
};
