import assert from "node:assert/strict";

import { type BurstResult, runBurst } from "../load/burst-client.ts";
import { lightRequest } from "../load/overload-requests.ts";
import type { Fault } from "./fault.ts";

const OVERLOAD_S = 60;
const SHORT_OVERLOAD_S = 10;
const CAPACITY_S = 5;
/** The most requests that a process works on: the default of SCRIP_MAX_CONCURRENT_WORK. */
const CONNECTIONS = 128;
const FACTOR = 5;
const MIN_GOODPUT = 0.8;
const MAX_RECOVERY_MS = 5_000;
const AFTERWARDS = 20;

export const overload: Fault = {
  id: "F33",
  title:
    "Five times as many connections as a process works on, which repeat rejected requests at once",
  criterion:
    "it serves at least 80 % of its capacity, the rest gets 429 or 503, and all requests succeed afterwards",
  inEveryRun: true,
  buses: ["postgres"],
  async run({ stack }, { full, report }) {
    const request = await lightRequest(stack);
    const port = Number(new URL(stack.url).port);
    const burst = (connections: number, seconds: number): Promise<BurstResult> =>
      runBurst({ port, connections, request, seconds, isPolite: false });
    const capacity = async (): Promise<number> => perSecond(await burst(CONNECTIONS, CAPACITY_S));
    // Code that runs for the first time is slow.
    await capacity();
    const before = await capacity();
    const result = await burst(CONNECTIONS * FACTOR, full ? OVERLOAD_S : SHORT_OVERLOAD_S);
    const startedAt = performance.now();
    const { statuses } = await burst(1, 0);
    const recoveryMs = performance.now() - startedAt;
    for (let sent = 1; sent < AFTERWARDS; sent += 1) {
      assert.deepEqual((await burst(1, 0)).statuses, { 200: 1 }, "requests fail afterwards");
    }
    const after = await capacity();
    const goodput = perSecond(result);
    const { 200: served = 0, 429: limited = 0, 503: rejected = 0, ...others } = result.statuses;
    report(
      `${before.toFixed(0)} and ${after.toFixed(0)} requests/s before and after, ${goodput.toFixed(0)} served meanwhile (${served} × 200, ${limited} × 429, ${rejected} × 503)`,
    );
    report(
      `rejections: p99 ${result.rejected.p99Ms.toFixed(0)} ms; the first request afterwards takes ${recoveryMs.toFixed(0)} ms`,
    );
    assert.deepEqual(others, {}, "requests got other responses");
    assert.deepEqual(statuses, { 200: 1 }, "a request fails afterwards");
    assert(recoveryMs < MAX_RECOVERY_MS, "the process has not recovered in time");
    assert(goodput >= MIN_GOODPUT * Math.min(before, after), "too few requests were served");
  },
};

const perSecond = ({ statuses, servedSeconds }: BurstResult): number =>
  (statuses["200"] ?? 0) / Math.max(servedSeconds, 1);
