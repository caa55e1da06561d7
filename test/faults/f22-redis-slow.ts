import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import type { Fault } from "./fault.ts";
import { redisIn } from "./installation.ts";
import { describeLoad, PER_SECOND, WARM_UP_MS } from "./load.ts";
import { countOf, describeProbes, probe, quantile } from "./probes.ts";

const SLOW_MS = 20_000;
const PULSE_MS = 500;
const MAX_P99_MS = 250;

export const redisSlow: Fault = {
  id: "F22",
  title: "Redis stops for half of each second",
  criterion: "no request fails because of it; p99 below 250 ms",
  inEveryRun: false,
  buses: ["postgres"],
  // A limit that is never reached, so that each request is counted.
  setup: { redis: true, env: { SCRIP_LIMIT_CALLS_PER_MINUTE: "1000000" } },
  async run(installation, { report }) {
    const { shop } = installation;
    const redis = redisIn(installation);
    const load = shop.load(PER_SECOND);
    await sleep(WARM_UP_MS);
    const probing = probe(SLOW_MS, 4, () => shop.api.get("/v1/customers?limit=1"));
    for (const endsAt = performance.now() + SLOW_MS; performance.now() < endsAt;) {
      redis.freeze();
      await sleep(PULSE_MS);
      redis.thaw();
      await sleep(PULSE_MS);
    }
    const probes = await probing;
    const result = await load.stop();
    report(`reads: ${describeProbes(probes)}`);
    report(describeLoad(result));
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
    assert(countOf(probes, 200) === probes.count, "reads failed");
    assert(result.failures === 0, "writes failed");
    assert(quantile(probes, 0.99) < MAX_P99_MS, "requests waited for Redis");
  },
};
