import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import type { Fault } from "./fault.ts";
import { proxyIn } from "./installation.ts";
import { describeLoad, PER_SECOND, WARM_UP_MS } from "./load.ts";

const EVICTION_MS = 15_000;
const REST_MS = 45_000;
const MAX_FAILED = 0.01;

export const halfOpen: Fault = {
  id: "F26",
  title: "One of two processes of voucher receives nothing, with its connections open",
  criterion: "it gets no requests after 15 s; less than 1 % of all requests fail",
  inEveryRun: false,
  buses: ["postgres"],
  setup: { composition: "distributed", proxied: "voucher", replicas: 2 },
  async run(installation, { report }) {
    const { shop } = installation;
    const proxy = proxyIn(installation);
    const load = shop.load(PER_SECOND);
    await sleep(WARM_UP_MS);
    proxy.freeze();
    await sleep(EVICTION_MS);
    const until = await load.stop();
    report(`in the first ${EVICTION_MS / 1_000} s: ${describeLoad(until)}`);
    const later = shop.load(PER_SECOND);
    await sleep(REST_MS);
    const after = await later.stop();
    proxy.thaw();
    report(`in the next ${REST_MS / 1_000} s: ${describeLoad(after)}`);
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
    assert(after.failures === 0, "requests failed after the process should have been left out");
    const failed = (until.failures + after.failures) / (until.requests + after.requests);
    assert(failed < MAX_FAILED, "too many requests failed");
  },
};
