import { describe, expect, test } from "vitest";

import {
  type Api,
  inParallel,
  type Json,
  managementApi,
  newCode,
  newProject,
  serverApi,
} from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("stacked redemptions (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test("redeem all redeemables of a request together, and return byte-equal replays", async () => {
    const [ten, gift] = [await percentVoucher(api, 10), await giftVoucher(api, 2000)];
    const order = { source_id: newCode("order"), items: [{ quantity: 2, price: 5000 }] };
    const body = {
      redeemables: [ten, { ...gift, gift: { credits: 1500 } }],
      order,
      customer: { source_id: newCode("buyer"), name: "Ada" },
      metadata: { till: 4 },
    };
    const headers = { "idempotency-key": newCode("key") };
    const created = await api.post("/v1/redemptions", body, headers);
    expect(created.status, created.text).toBe(200);
    const { redemptions, parent_redemption: parent } = created.body;
    expect(redemptions).toMatchObject([
      {
        object: "redemption",
        redemption: parent.id,
        related_object_type: "voucher",
        order: { total_applied_discount_amount: 1000, total_amount: 9000 },
        voucher: { code: ten.id, redemption: { redeemed_quantity: 1 } },
      },
      {
        redemption: parent.id,
        amount: 1500,
        gift: { amount: 1500 },
        order: { applied_discount_amount: 1500, total_discount_amount: 2500, total_amount: 7500 },
        voucher: { gift: { balance: 500 } },
      },
    ]);
    expect(parent).toMatchObject({
      object: "redemption",
      related_object_type: "redemption",
      result: "SUCCESS",
      metadata: { till: 4 },
      customer: { source_id: body.customer.source_id },
    });
    expect(created.body).toMatchObject({
      order: {
        source_id: order.source_id,
        status: "PAID",
        applied_discount_amount: 2500,
        total_amount: 7500,
        redemptions: { [parent.id]: { stacked: redemptions.map(({ id }: Json) => id) } },
      },
      inapplicable_redeemables: [],
      skipped_redeemables: [],
    });
    const stored = await api.get(`/v1/orders/${order.source_id}`);
    expect(stored.body).toMatchObject({ total_amount: 7500, status: "PAID" });
    expect(Object.keys(stored.body["redemptions"])).toEqual([parent.id]);

    const again = await api.post("/v1/redemptions", body, headers);
    expect(again.text).toBe(created.text);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  });

  test("return a single redeemable without a parent redemption", async () => {
    const created = await api.post("/v1/redemptions", {
      redeemables: [await percentVoucher(api, 10)],
      order: { amount: 1000 },
    });
    expect(created.status, created.text).toBe(200);
    expect(created.body).not.toHaveProperty("parent_redemption");
    expect(created.body["redemptions"]).toHaveLength(1);
    expect(created.body["redemptions"][0]).not.toHaveProperty("redemption");
  });

  test("are rejected as a whole for the first inapplicable redeemable, and the failure is recorded", async () => {
    const [good, used] = [await percentVoucher(api, 10), await percentVoucher(api, 5, 1)];
    await api.post(`/v1/vouchers/${used.id}/redemption`, { order: { amount: 100 } });
    const rejected = await api.post("/v1/redemptions", {
      redeemables: [good, used],
      order: { amount: 1000 },
    });
    expect(rejected.status, rejected.text).toBe(400);
    expect(rejected.body).toMatchObject({
      key: "quantity_exceeded",
      details: used.id,
      resource_type: "redemption",
    });
    const recorded = await api.get(`/v1/redemptions/${rejected.body["resource_id"]}`);
    expect(recorded.body).toMatchObject({
      result: "FAILURE",
      status: "FAILED",
      failure_code: "quantity_exceeded",
      order: null,
    });
    expect(await redeemed(api, good.id)).toBe(0);

    const unknown = { object: "voucher", id: newCode("NONE") };
    const missing = await api.post("/v1/redemptions", {
      redeemables: [good, unknown],
      order: { amount: 1000 },
    });
    expect(missing.status).toBe(404);
    expect(missing.body).toMatchObject({
      key: "not_found",
      resource_type: "voucher",
      resource_id: unknown.id,
    });
    expect(await redeemed(api, good.id)).toBe(0);
  });

  test("are replayed, even if the request would be rejected by now", async () => {
    const { id, api: own } = await newProject(stack);
    const customer = await own.post("/v1/customers", { source_id: newCode("buyer") });
    const body = {
      redeemables: [await percentVoucher(own, 10), await percentVoucher(own, 20)],
      customer: { id: customer.body["id"] },
      order: { amount: 1000 },
    };
    const headers = { "idempotency-key": newCode("key") };
    const created = await own.post("/v1/redemptions", body, headers);
    expect(created.status, created.text).toBe(200);
    await managementApi(stack).post(`/management/v1/projects/${id}/stacking-rules`, {
      redeemables_limit: 1,
    });
    await own.delete(`/v1/customers/${customer.body["id"]}`);
    expect((await own.post("/v1/redemptions", body, headers)).text).toBe(created.text);
    expect((await own.post("/v1/redemptions", body)).status).toBe(400);
  });

  test("are committed as a whole and within every limit for 64 clients with shared codes", async () => {
    const limit = 25;
    const redeemables = await inParallel(Array.from({ length: 7 }), 2, () =>
      percentVoucher(api, 1, limit),
    );
    const card = await giftVoucher(api, 10_000);
    const random = randomOf(20_261_121);
    const stacks = Array.from({ length: 192 }, () =>
      [...redeemables, card]
        .map((redeemable) => ({ redeemable, at: random() }))
        .toSorted((a, b) => a.at - b.at)
        .slice(0, 2 + Math.floor(random() * 4))
        .map(({ redeemable }) => redeemable),
    );
    const responses = await inParallel(stacks, 64, (chosen) =>
      api.post("/v1/redemptions", {
        redeemables: chosen.map((one) => (one === card ? { ...one, gift: { credits: 100 } } : one)),
        order: { amount: 1000 },
      }),
    );
    const created = stacks.filter((_stack, index) => responses[index]?.status === 200);
    const rejected = responses.filter(({ status }) => status !== 200);
    expect(new Set(rejected.map(({ body }) => body["key"]))).toEqual(
      new Set(["quantity_exceeded"]),
    );
    for (const one of redeemables) {
      const uses = created.filter((chosen) => chosen.includes(one)).length;
      expect(uses).toBeLessThanOrEqual(limit);
      expect(await redeemed(api, one.id)).toBe(uses);
    }
    const spent = created.filter((chosen) => chosen.includes(card)).length;
    const { body } = await api.get(`/v1/vouchers/${card.id}`);
    expect(body["gift"].balance).toBe(10_000 - spent * 100);
  });

  test("redeem the remaining redeemables in mode PARTIAL when a race exhausts one", async () => {
    const { id, api: own } = await newProject(stack);
    await managementApi(stack).post(`/management/v1/projects/${id}/stacking-rules`, {
      redeemables_application_mode: "PARTIAL",
    });
    const [scarce, plenty] = [await percentVoucher(own, 1, 3), await percentVoucher(own, 2)];
    const responses = await inParallel(Array.from({ length: 24 }), 24, () =>
      own.post("/v1/redemptions", { redeemables: [scarce, plenty], order: { amount: 1000 } }),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    const sizes = responses.map(({ body }) => body["redemptions"].length as number);
    expect(sizes.filter((size) => size === 2)).toHaveLength(3);
    expect([await redeemed(own, scarce.id), await redeemed(own, plenty.id)]).toEqual([3, 24]);
  });

  test("return the explanation on request, and store it", async () => {
    const created = await api.post("/v1/redemptions", {
      redeemables: [await percentVoucher(api, 10)],
      order: { amount: 1000 },
      options: { expand: ["explanation"] },
    });
    expect(created.body["redemptions"][0]).toMatchObject({
      explanation: { status: "APPLICABLE", allocations: [{ amount: 100 }] },
    });
  });
});

/** Pseudo-random numbers from 0 to 1 that repeat in each run (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function percentVoucher(api: Api, percentOff: number, quantity?: number) {
  const id = newCode("STACK");
  const created = await api.post("/v1/vouchers", {
    code: id,
    type: "DISCOUNT_VOUCHER",
    discount: { type: "PERCENT", percent_off: percentOff },
    ...(quantity !== undefined && { redemption: { quantity } }),
  });
  expect(created.status, created.text).toBe(200);
  return { object: "voucher", id };
}

async function giftVoucher(api: Api, amount: number) {
  const id = newCode("GIFT");
  const created = await api.post("/v1/vouchers", {
    code: id,
    type: "GIFT_VOUCHER",
    gift: { amount },
  });
  expect(created.status, created.text).toBe(200);
  return { object: "voucher", id };
}

async function redeemed(api: Api, code: string): Promise<number> {
  return (await api.get(`/v1/vouchers/${code}`)).body["redemption"].redeemed_quantity;
}
