import { setTimeout as sleep } from "node:timers/promises";

import type { Fault } from "./fault.ts";
import { describeLoad, PER_SECOND, WARM_UP_MS } from "./load.ts";

/** Longer than the lease of a relay and the session of a consumer. */
const STOPPED_MS = 18_000;

export const splitLease: Fault = {
  id: "F17",
  title: "The process with the leases hangs, another one takes over, and it resumes",
  criterion: "no accrual is lost or doubled, and the ledgers have no gaps",
  inEveryRun: true,
  buses: ["kafka", "postgres"],
  async run({ stack, shop }, { report }) {
    shop.sendTo(await stack.startReplica());
    const load = shop.load(PER_SECOND);
    await sleep(WARM_UP_MS);
    const [pid = 0] = stack.pids();
    process.kill(pid, "SIGSTOP");
    try {
      await sleep(STOPPED_MS);
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await sleep(WARM_UP_MS);
    report(describeLoad(await load.stop()));
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
  },
};
