import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import type { Fault } from "./fault.ts";
import { proxyIn } from "./installation.ts";
import { describeLoad, PER_SECOND, WARM_UP_MS } from "./load.ts";

const AWAY_MS = 60_000;
const SHORT_AWAY_MS = 15_000;
const MAX_DRAIN_MS = 60_000;
const MIN_SUCCESS = 0.999;

export const eventLogAway: Fault = {
  id: "F12",
  title: "Relays and consumers do not reach the event log in PostgreSQL for a minute under load",
  criterion: "99.9 % of the requests succeed; all accruals follow within a minute after its return",
  inEveryRun: true,
  buses: ["postgres"],
  // Of one process, the connections to the log are those to the database.
  setup: { composition: "distributed", eventsProxied: true },
  async run(installation, { full, report }) {
    const { shop } = installation;
    const proxy = proxyIn(installation);
    await shop.pay(shop.cards.length);
    await shop.settle();
    const before = shop.expectedPoints();
    const load = shop.load(PER_SECOND);
    await sleep(WARM_UP_MS);
    await proxy.close();
    await sleep(full ? AWAY_MS : SHORT_AWAY_MS);
    await proxy.open();
    const result = await load.stop();
    report(describeLoad(result));
    const ms = await shop.settle();
    report(
      `${shop.expectedPoints() - before} points; accruals complete ${(ms / 1_000).toFixed(1)} s after the return`,
    );
    const failed = result.failures / result.requests;
    assert(failed <= 1 - MIN_SUCCESS, "requests failed while the log was unavailable");
    assert(ms < MAX_DRAIN_MS, "the outbox has not drained within a minute");
  },
};
