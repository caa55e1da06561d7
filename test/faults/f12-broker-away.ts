import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import type { Fault } from "./fault.ts";
import { brokerIn } from "./installation.ts";
import { describeLoad, PER_SECOND, WARM_UP_MS } from "./load.ts";

const AWAY_MS = 60_000;
const SHORT_AWAY_MS = 15_000;

export const brokerAway: Fault = {
  id: "F12",
  title: "Kafka is unavailable for a minute under load",
  criterion: "no request fails; all accruals follow within a minute after its return",
  inEveryRun: true,
  buses: ["kafka"],
  async run(installation, { full, report }) {
    const { shop } = installation;
    const broker = brokerIn(installation);
    const load = shop.load(PER_SECOND);
    await sleep(WARM_UP_MS);
    await broker.kill();
    await sleep(full ? AWAY_MS : SHORT_AWAY_MS);
    await broker.restart();
    const result = await load.stop();
    report(describeLoad(result));
    const ms = await shop.settle();
    report(`accruals complete ${(ms / 1_000).toFixed(1)} s after the return`);
    assert(result.failures === 0, "requests failed while Kafka was unavailable");
    assert(ms < 60_000, "the outbox has not drained within a minute");
  },
};
