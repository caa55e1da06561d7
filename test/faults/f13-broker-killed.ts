import { setTimeout as sleep } from "node:timers/promises";

import type { Fault } from "./fault.ts";
import { brokerIn } from "./installation.ts";
import { describeLoad, PER_SECOND, WARM_UP_MS } from "./load.ts";

const KILLS = 5;

export const brokerKilled: Fault = {
  id: "F13",
  title: "Kafka is killed five times and starts again on its data",
  criterion: "no request fails, no accrual is lost or doubled",
  inEveryRun: false,
  buses: ["kafka"],
  async run(installation, { random, report }) {
    const { shop } = installation;
    const broker = brokerIn(installation);
    const load = shop.load(PER_SECOND);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(WARM_UP_MS + random() * 3_000);
      await broker.kill();
      await broker.restart();
    }
    const result = await load.stop();
    report(describeLoad(result));
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
    if (result.failures > 0) throw new Error("requests failed while Kafka was killed");
  },
};
