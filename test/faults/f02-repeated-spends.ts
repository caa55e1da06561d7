import assert from "node:assert/strict";

import { type ApiResponse, inParallel, newCode } from "../stack/api.ts";
import { isInProgress, NO_CONNECTION, retryUnavailable } from "../stack/retry.ts";
import { ok } from "../stack/rule-builders.ts";
import type { Fault } from "./fault.ts";

const CREDITS = 100_000;
const SPENDS = 20_000;
const SHORT_SPENDS = 2_000;
const MAX_SPEND = 100;
/** Requests that are sent three times at once, instead of twice. */
const THRICE = 0.1;
const WIDTH = 32;

export const repeatedSpends: Fault = {
  id: "F02",
  title: "Concurrent spends of a gift voucher, each sent two or three times with one key",
  criterion: "what was spent is what its balance lacks; one redemption and one response per key",
  inEveryRun: true,
  buses: ["postgres"],
  async run({ shop: { api } }, { full, random, report }) {
    const code = newCode("GIFT");
    const gift = { amount: CREDITS };
    await ok(api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift }));
    const spends = Array.from({ length: full ? SPENDS : SHORT_SPENDS }, () => ({
      credits: 1 + Math.floor(random() * MAX_SPEND),
      times: random() < THRICE ? 3 : 2,
    }));
    let replayed = 0;
    const outcomes = await inParallel(spends, WIDTH, async ({ credits, times }) => {
      const headers = { "idempotency-key": newCode("key") };
      const body = { gift: { credits }, order: { amount: 1_000_000 } };
      const send = (): Promise<ApiResponse> =>
        retryUnavailable(
          () =>
            api.post(`/v1/vouchers/${code}/redemption`, body, headers).catch(() => NO_CONNECTION),
          isInProgress,
        );
      const responses = await Promise.all(Array.from({ length: times }, send));
      // Once more when all are over: the stored response.
      responses.push(await send());
      assert.equal(new Set(responses.map(({ text }) => text)).size, 1, "responses of a key differ");
      replayed += responses.filter(({ headers: own }) => own.has("idempotent-replayed")).length;
      return responses[0]!;
    });
    const succeeded = outcomes.filter(({ status }) => status === 200);
    const rejections = new Set(
      outcomes
        .filter(({ status }) => status !== 200)
        .map(({ status, body }) => `${status} ${body["key"]}`),
    );
    const spent = succeeded.reduce((sum, { body }) => sum + (body["amount"] as number), 0);
    const voucher = await ok(api.get(`/v1/vouchers/${code}`));
    const { balance } = voucher["gift"];
    report(
      `${spends.length} keys, ${succeeded.length} redeemed, ${replayed} responses replayed; ${spent} credits spent, ${balance} left`,
    );
    assert.deepEqual([...rejections], ["400 gift_amount_exceeded"]);
    assert.equal(balance, CREDITS - spent);
    assert.equal(voucher["redemption"].redeemed_quantity, succeeded.length);
    assert.equal(new Set(succeeded.map(({ body }) => body["id"])).size, succeeded.length);
    assert(replayed >= spends.length, "responses were not replayed");
  },
};
