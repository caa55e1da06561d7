import assert from "node:assert/strict";

import type { Fault } from "./fault.ts";
import { describeLoad, PER_SECOND } from "./load.ts";
import { countOf, describeProbes, probe, quantile, slowest } from "./probes.ts";

const LOAD_MS = 60_000;
const MAX_P99_MS = 1_500;
/** Of the probes in the Helm chart. */
const LIVENESS_TIMEOUT_MS = 3_000;

export const blockedEventLoop: Fault = {
  id: "F32",
  title: "The event loop of each process is blocked for 500 ms every 2 s",
  criterion: "p99 below 1.5 s; /livez responds in time, so that no process is restarted",
  inEveryRun: false,
  buses: ["postgres"],
  setup: { nodeArgs: ["--import", new URL("block-event-loop.ts", import.meta.url).pathname] },
  async run({ shop }, { report }) {
    const load = shop.load(PER_SECOND);
    const [reads, liveness] = await Promise.all([
      probe(LOAD_MS, 4, () => shop.api.get("/v1/customers?limit=1")),
      probe(LOAD_MS, 1, () => shop.api.get("/livez")),
    ]);
    const result = await load.stop();
    report(`reads: ${describeProbes(reads)}; /livez: ${describeProbes(liveness)}`);
    report(describeLoad(result));
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
    assert(countOf(liveness, 200) === liveness.count, "a probe failed");
    assert(slowest(liveness) < LIVENESS_TIMEOUT_MS, "a probe would have timed out");
    assert(countOf(reads, 200) === reads.count && result.failures === 0, "requests failed");
    assert(quantile(reads, 0.99) < MAX_P99_MS, "requests waited for too long");
  },
};
