import { repetitions } from "@scrip/testing/repetitions";
import { expect, test } from "vitest";

import { type ApiResponse, inParallel, newCode, serverApi, untilAdmitted } from "../stack/api.ts";
import { sharedStack } from "../stack/stack.ts";

const stack = await sharedStack("standalone");
const api = await serverApi(stack);

/** A use too many happens in the batches around the last use, when 500 requests compete. */
const ATTEMPTS = repetitions({ usual: 2_500, full: 10_000 });

test(`${ATTEMPTS} concurrent redemptions of a code with quantity 100 result in exactly 100 successes`, async () => {
  const code = newCode("RACE");
  await api.post("/v1/vouchers", {
    code,
    type: "DISCOUNT_VOUCHER",
    discount: { type: "AMOUNT", amount_off: 100 },
    redemption: { quantity: 100 },
  });

  const responses = await inParallel(Array.from({ length: ATTEMPTS }), 500, () =>
    untilAdmitted(() => api.post(`/v1/vouchers/${code}/redemption`, {})),
  );

  const created = responses.filter(({ status }) => status === 200);
  expect(created.length).toBe(100);
  const counters = created.map(
    ({ body }) => body["voucher"].redemption.redeemed_quantity as number,
  );
  expect(counters.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  expect(new Set(created.map(({ body }) => body["id"])).size).toBe(100);
  const rejected = responses.filter(({ status }) => status !== 200);
  expect(new Set(rejected.map(({ status, body }) => `${status} ${body["key"]}`))).toEqual(
    new Set(["400 quantity_exceeded"]),
  );
  const voucher = await api.get(`/v1/vouchers/${code}`);
  expect(voucher.body["redemption"].redeemed_quantity).toBe(100);
}, 120_000);

test("concurrent redemptions of a gift voucher never overdraw it, and the balance matches them", async () => {
  const code = newCode("GIFT");
  await api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 10_000 } });
  const spends = Array.from({ length: 1_000 }, (_, i) => 1 + ((i * 37) % 60));

  const responses = await inParallel(spends, 200, async (credits) => {
    const key = newCode("key");
    const body = { gift: { credits }, order: { amount: 100_000 } };
    // Every request is sent twice concurrently with one key: it may spend credits once.
    const redeem = (): Promise<ApiResponse> =>
      api.post(`/v1/vouchers/${code}/redemption`, body, { "idempotency-key": key });
    const [first, second] = await Promise.all([untilAdmitted(redeem), untilAdmitted(redeem)]);
    expect(second.text).toBe(first.text);
    return first;
  });

  const spent = responses
    .filter(({ status }) => status === 200)
    .reduce((sum, { body }) => sum + (body["amount"] as number), 0);
  const voucher = await api.get(`/v1/vouchers/${code}`);
  expect(voucher.body["gift"].balance).toBe(10_000 - spent);
  expect(voucher.body["redemption"].redeemed_amount).toBe(spent);
  expect(voucher.body["gift"].balance).toBeGreaterThanOrEqual(0);
  const rejections = new Set(
    responses.filter(({ status }) => status !== 200).map(({ body }) => body["key"]),
  );
  expect([...rejections]).toEqual(["gift_amount_exceeded"]);
}, 120_000);

test("redemptions of a voucher succeed while it is updated concurrently", async () => {
  const code = newCode("EDIT");
  await api.post("/v1/vouchers", {
    code,
    type: "DISCOUNT_VOUCHER",
    discount: { type: "AMOUNT", amount_off: 100 },
  });
  const state = { done: false };
  const editing = (async () => {
    for (let edit = 0; !state.done; edit += 1) {
      await api.put(`/v1/vouchers/${code}`, { metadata: { edit }, additional_info: `${edit}` });
    }
  })();

  const responses = await inParallel(Array.from({ length: 500 }), 32, () =>
    untilAdmitted(() => api.post(`/v1/vouchers/${code}/redemption`, { order: { amount: 1_000 } })),
  );
  state.done = true;
  await editing;

  expect(new Set(responses.map(({ status, body }) => `${status} ${body["key"]}`))).toEqual(
    new Set(["200 undefined"]),
  );
  const voucher = await api.get(`/v1/vouchers/${code}`);
  expect(voucher.body["redemption"].redeemed_quantity).toBe(500);
}, 120_000);
