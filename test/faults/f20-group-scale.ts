import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import type { Fault } from "./fault.ts";
import { describeLoad, PER_SECOND, WARM_UP_MS } from "./load.ts";

const AT_EACH_SCALE_MS = 15_000;
const SHORT_AT_EACH_SCALE_MS = 5_000;

export const groupScale: Fault = {
  id: "F20",
  title: "Consumers scale from one process to three and back under load",
  criterion: "no request fails, no accrual is lost or doubled, the lag is gone within 5 s",
  inEveryRun: true,
  buses: ["kafka", "postgres"],
  async run({ stack, shop }, { full, report }) {
    const pause = (): Promise<void> => sleep(full ? AT_EACH_SCALE_MS : SHORT_AT_EACH_SCALE_MS);
    const load = shop.load(PER_SECOND);
    await sleep(WARM_UP_MS);
    await stack.startReplica();
    await stack.startReplica();
    await pause();
    await stack.stopReplicas();
    await pause();
    const result = await load.stop();
    const ms = await shop.settle();
    report(describeLoad(result));
    report(`accruals complete after ${ms.toFixed(0)} ms`);
    assert(result.failures === 0, "requests failed");
    assert(ms < 5_000, "the consumers lag behind");
  },
};
