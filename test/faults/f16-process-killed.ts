import { setTimeout as sleep } from "node:timers/promises";

import { startedAgain } from "./crash.ts";
import type { Fault } from "./fault.ts";
import { describeLoad, PER_SECOND } from "./load.ts";

const KILLS = 100;
const SHORT_KILLS = 6;
/** From the restart to the next kill. */
const LONGEST_MS = 1_500;

export const processKilled: Fault = {
  id: "F16",
  title: "Relay and consumers are killed 100 times at random points",
  criterion: "every paid order earns its points exactly once",
  inEveryRun: true,
  buses: ["kafka", "postgres"],
  async run({ stack, shop }, { full, random, report }) {
    const kills = Number(process.env["KILLS"] ?? (full ? KILLS : SHORT_KILLS));
    const load = shop.load(PER_SECOND);
    for (let kill = 0; kill < kills; kill += 1) {
      await sleep(random() * LONGEST_MS);
      await startedAgain(() => stack.crash());
    }
    report(`${kills} kills; ${describeLoad(await load.stop())}`);
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
  },
};
