import assert from "node:assert/strict";

import { type ApiResponse, newCode } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import type { Fault } from "./fault.ts";
import { countOf, describeProbes, probe, quantile } from "./probes.ts";

const LOCKED_MS = 30_000;
const SHORT_LOCKED_MS = 10_000;
const BASELINE_MS = 5_000;
const OTHERS = 20;
const CLIENTS = 4;
const MAX_REJECTION_MS = 1_500;
/** What a busy machine adds to a median. */
const NOISE_MS = 25;
const SUCCESS = 200;
const REJECTED = [429, 503];

export const foreignLock: Fault = {
  id: "F10",
  title: "A foreign transaction locks the row of a hot voucher for 30 s",
  criterion:
    "its requests get 429 or 503 within 1.5 s; those of other codes take at most twice as long",
  inEveryRun: true,
  buses: ["postgres"],
  async run({ shop: { api }, database }, { full, report }) {
    const create = async (): Promise<{ readonly id: string; readonly code: string }> => {
      const discount = { type: "AMOUNT", amount_off: 100 };
      const { id, code } = await ok(
        api.post("/v1/vouchers", { code: newCode("HOT"), type: "DISCOUNT_VOUCHER", discount }),
      );
      return { id, code };
    };
    const hot = await create();
    const others = await Promise.all(Array.from({ length: OTHERS }, create));
    const redeem = ({ code }: { readonly code: string }): Promise<ApiResponse> =>
      api.post(`/v1/vouchers/${code}/redemption`, { order: { amount: 1_000 } });
    let nth = 0;
    const redeemOther = (): Promise<ApiResponse> => redeem(others[(nth += 1) % OTHERS]!);
    // Code that runs for the first time is slow.
    await probe(BASELINE_MS / 2, CLIENTS, redeemOther);
    const before = await probe(BASELINE_MS, CLIENTS, redeemOther);
    await database.query("begin");
    const lock = "select from voucher.voucher_usage where voucher_id = $1 for update";
    assert((await database.query(lock, [hot.id])).rowCount === 1, "the row is not locked");
    const ms = full ? LOCKED_MS : SHORT_LOCKED_MS;
    const [rejected, during] = await Promise.all([
      probe(ms, CLIENTS, () => redeem(hot)),
      probe(ms, CLIENTS, redeemOther),
    ]);
    await database.query("rollback");
    report(`the locked code: ${describeProbes(rejected)}`);
    report(`others before: ${describeProbes(before)}; p50 ${quantile(before, 0.5).toFixed(0)} ms`);
    report(
      `others meanwhile: ${describeProbes(during)}; p50 ${quantile(during, 0.5).toFixed(0)} ms`,
    );
    assert(
      countOf(rejected, ...REJECTED) === rejected.count,
      "the locked code got other responses",
    );
    const noiseMs = quantile(before, 0.99);
    assert(quantile(rejected, 0.9) < MAX_REJECTION_MS + noiseMs, "rejections take too long");
    assert(countOf(during, SUCCESS) === during.count, "requests of other codes failed");
    assert(quantile(during, 0.5) < 2 * quantile(before, 0.5) + NOISE_MS, "others are slow");
    assert((await redeem(hot)).status === SUCCESS, "the code is still locked");
    const { redemption } = await ok(api.get(`/v1/vouchers/${hot.code}`));
    assert(redemption.redeemed_quantity === 1, "a rejected redemption was stored");
  },
};
