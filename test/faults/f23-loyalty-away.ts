import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import type { Fault } from "./fault.ts";
import { PER_SECOND, WARM_UP_MS } from "./load.ts";

const AWAY_MS = 300_000;
const SHORT_AWAY_MS = 15_000;
/** Of a request to a service that is unavailable. */
const MAX_RESPONSE_MS = 1_000;
const CODE = "WITHOUT-LOYALTY";

export const loyaltyAway: Fault = {
  id: "F23",
  title: "The loyalty service is unavailable for five minutes",
  criterion: "vouchers are redeemed, cards return 503 within 1 s, accruals follow later",
  inEveryRun: true,
  buses: ["kafka", "postgres"],
  setup: { composition: "distributed" },
  async run({ stack, shop }, { full, report }) {
    const { api } = shop;
    const discount = { type: "AMOUNT", amount_off: 100 };
    await api.post("/v1/vouchers", { code: CODE, type: "DISCOUNT_VOUCHER", discount });
    const load = shop.load(PER_SECOND);
    await sleep(WARM_UP_MS);
    await load.stop();
    const redemptions = { succeeded: 0, failed: 0 };
    const reads = { unavailable: 0, other: 0, longestMs: 0 };
    await stack.crash("loyalty", async () => {
      const endsAt = performance.now() + (full ? AWAY_MS : SHORT_AWAY_MS);
      while (performance.now() < endsAt) {
        const order = { amount: 1_000 };
        const { status } = await api.post(`/v1/vouchers/${CODE}/redemption`, { order });
        redemptions[status === 200 ? "succeeded" : "failed"] += 1;
        const startedAt = performance.now();
        const read = await api.get("/v1/loyalties?limit=1");
        const member = await api.get(`/v1/customers?limit=1`);
        reads.longestMs = Math.max(reads.longestMs, performance.now() - startedAt);
        reads[member.status === 503 || read.status === 503 ? "unavailable" : "other"] += 1;
        await sleep(100);
      }
    });
    report(`${redemptions.succeeded} redemptions succeeded, ${redemptions.failed} failed`);
    report(
      `${reads.unavailable} reads returned 503, the slowest after ${reads.longestMs.toFixed(0)} ms`,
    );
    report(`accruals complete ${(await shop.settle()).toFixed(0)} ms after the return`);
    assert(redemptions.failed === 0, "redemptions failed");
    assert(reads.other === 0, "reads of the missing service did not return 503");
    assert(reads.longestMs < MAX_RESPONSE_MS, "reads of the missing service took too long");
  },
};
