import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import type { Fault } from "./fault.ts";
import { describeLoad, PER_SECOND, WARM_UP_MS } from "./load.ts";

const SLOW_MS = 60_000;
const DELAY_MS = 50;
const JITTER_MS = 25;
const LOST = 0.05;
/** The shortest time after which Linux sends a packet again. */
const RETRANSMISSION_MS = 200;
const MIN_SUCCESS = 0.99;

export const slowNetwork: Fault = {
  id: "F25",
  title: "100 ms ± 50 between the services and voucher, and 5 % of the packets lost",
  criterion: "99 % of the requests succeed, none is executed twice",
  inEveryRun: false,
  buses: ["postgres"],
  setup: { composition: "distributed", proxied: "voucher" },
  async run({ shop, proxies }, { random, report }) {
    // Of a round trip half in each direction; what TCP does about a lost packet, its receiver sees as a delay.
    const delay = (): number =>
      DELAY_MS + JITTER_MS * (2 * random() - 1) + (random() < LOST ? RETRANSMISSION_MS : 0);
    const load = shop.load(PER_SECOND);
    await sleep(WARM_UP_MS);
    for (const proxy of proxies) proxy.delay(delay);
    await sleep(SLOW_MS);
    for (const proxy of proxies) proxy.delay(() => 0);
    const result = await load.stop();
    report(describeLoad(result));
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
    assert(result.failures / result.requests <= 1 - MIN_SUCCESS, "too many requests failed");
  },
};
