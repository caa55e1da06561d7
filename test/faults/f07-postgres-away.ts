import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { memoryOf } from "../load/memory.ts";
import { newCode } from "../stack/api.ts";
import type { Fault } from "./fault.ts";
import { proxyIn } from "./installation.ts";
import { describeLoad, PER_SECOND, WARM_UP_MS } from "./load.ts";
import { countOf, describeProbes, probe, slowest } from "./probes.ts";
import { until } from "./shop.ts";

const AWAY_MS = 60_000;
const WARM_AWAY_MS = 20_000;
/** Memory grows between collections of the old generation: the least of each half is compared. */
const SAMPLE_MS = 1_000;
const PROBES = 8;
const MAX_RESPONSE_MS = 3_500;
const MAX_RECOVERY_MS = 5_000;
const MAX_GROWTH_MIB = 50;

export const postgresAway: Fault = {
  id: "F07",
  title: "PostgreSQL rejects all connections for a minute",
  criterion:
    "each request gets 503 with Retry-After within 3.5 s, /readyz fails, memory does not grow",
  inEveryRun: false,
  buses: ["postgres"],
  setup: { proxied: "postgres" },
  async run(installation, { report }) {
    const { stack, shop } = installation;
    const proxy = proxyIn(installation);
    const load = shop.load(PER_SECOND);
    await sleep(WARM_UP_MS);
    await proxy.close();
    // Requests that had a connection may end in any way.
    await sleep(1_000);
    let withoutRetryAfter = 0;
    const writes = probe(AWAY_MS, PROBES, async () => {
      const response = await shop.api.post("/v1/customers", { source_id: newCode("probe") });
      if (!response.headers.has("retry-after")) withoutRetryAfter += 1;
      return response;
    });
    const readiness = probe(AWAY_MS, 1, () => shop.api.get("/readyz"));
    // A process that had little to do until now first grows to what its load needs.
    await sleep(WARM_AWAY_MS);
    const memory: number[] = [];
    const sampling = setInterval(() => memory.push(...memoryOf(stack).values()), SAMPLE_MS);
    const [written, ready] = await Promise.all([writes, readiness]).finally(() =>
      clearInterval(sampling),
    );
    await proxy.open();
    const returnedAt = performance.now();
    await until(
      async () =>
        (await shop.api.post("/v1/customers", { source_id: newCode("probe") })).status === 200,
    );
    const recoveryMs = performance.now() - returnedAt;
    const half = Math.floor(memory.length / 2);
    const before = Math.min(...memory.slice(0, half));
    const after = Math.min(...memory.slice(half));
    report(`writes: ${describeProbes(written)}; /readyz: ${describeProbes(ready)}`);
    report(
      `least memory in the first and in the second half: ${before.toFixed(0)} → ${after.toFixed(0)} MiB`,
    );
    report(`a write succeeds ${recoveryMs.toFixed(0)} ms after the return`);
    report(describeLoad(await load.stop()));
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
    assert(countOf(written, 503) === written.count, "a request did not get 503");
    assert(withoutRetryAfter === 0, "a response had no Retry-After");
    assert(slowest(written) < MAX_RESPONSE_MS, "a request waited for too long");
    assert(countOf(ready, 200) === 0, "the process called itself ready");
    assert(after - before < MAX_GROWTH_MIB, "the memory has grown");
    assert(recoveryMs < MAX_RECOVERY_MS, "the connections have not recovered in time");
  },
};
