import { describe, expect, test } from "vitest";

import {
  type ApiResponse,
  type Api,
  inParallel,
  type Json,
  managementApi,
  newCode,
  newProject,
  serverApi,
} from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("rollbacks (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test("restore a use, and cancel the order of its only redemption", async () => {
    const code = await percentVoucher(api, 10, 1);
    const order = { source_id: newCode("order"), amount: 5000 };
    const redeemed = await redeem(api, code, { order, customer: { source_id: newCode("buyer") } });
    expect(redeemed.body["order"]).toMatchObject({ total_amount: 4500 });

    const id = redeemed.body["id"];
    const rollbackResponse = await api.post(
      `/v1/redemptions/${id}/rollback?reason=query&tracking_id=till`,
      {
        reason: "returned",
        metadata: { clerk: 7 },
      },
    );
    expect(rollbackResponse.status, rollbackResponse.text).toBe(200);
    expect(rollbackResponse.body).toMatchObject({
      id: expect.stringMatching(/^rr_[0-9a-f]{18}$/),
      object: "redemption_rollback",
      redemption: id,
      reason: "returned",
      result: "SUCCESS",
      metadata: { clerk: 7 },
      tracking_id: expect.stringMatching(/^track_[\w-]{43}$/),
      customer_id: redeemed.body["customer_id"],
      voucher: { code, redemption: { redeemed_quantity: 0 } },
      order: {
        id: redeemed.body["order"].id,
        status: "CANCELED",
        total_discount_amount: 0,
        total_amount: 5000,
      },
    });
    const stored = await api.get(`/v1/orders/${order.source_id}`);
    expect(stored.body).toMatchObject({ status: "CANCELED", total_amount: 5000 });
    expect(stored.body["redemptions"][id]).toMatchObject({
      rollback_id: rollbackResponse.body["id"],
      rollback_date: rollbackResponse.body["date"],
    });
    const readBack = await api.get(`/v1/redemptions/${id}`);
    expect(readBack.body).toMatchObject({ status: "ROLLED_BACK", result: "SUCCESS" });
    expect((await redeem(api, code, { order: { amount: 100 } })).status).toBe(200);
  });

  test("happen once under repeated and concurrent requests", async () => {
    const redeemed = await redeem(api, await percentVoucher(api, 10), { order: { amount: 1000 } });
    const path = `/v1/redemptions/${redeemed.body["id"]}/rollback`;
    const key = { "idempotency-key": newCode("key") };
    const responses = await inParallel([1, 2, 3, 4, 5, 6], 6, () => api.post(path));
    const done = responses.filter(({ status }) => status === 200);
    expect(done).toHaveLength(1);
    for (const { status, body } of responses.filter((response) => response.status !== 200)) {
      expect(status).toBe(400);
      expect(body["key"]).toBe("already_rolled_back");
    }
    const late = await api.post(path, {}, key);
    expect(late.body).toMatchObject({
      key: "already_rolled_back",
      message: "Already rolled back",
      details: "Redemption has been already rolled back.",
      resource_id: expect.stringMatching(/^rrf_/),
    });
    const again = await api.post(path, {}, key);
    expect(again.body["resource_id"]).toBe(late.body["resource_id"]);
  });

  test("return byte-equal replays, even after the order has changed", async () => {
    const order = { source_id: newCode("order"), amount: 1000 };
    const redeemed = await redeem(api, await percentVoucher(api, 10), { order });
    const path = `/v1/redemptions/${redeemed.body["id"]}/rollback`;
    const key = { "idempotency-key": newCode("key") };
    const first = await api.post(path, {}, key);
    await redeem(api, await percentVoucher(api, 20), { order });
    const again = await api.post(path, {}, key);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect((await api.get(`/v1/orders/${order.source_id}`)).body).toMatchObject({
      status: "PAID",
      total_amount: 800,
    });
  });

  test("restore credits, even on a card that has been disabled", async () => {
    const code = newCode("GIFT");
    await api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 1000 } });
    const redeemed = await redeem(api, code, { order: { amount: 700 } });
    await api.post(`/v1/vouchers/${code}/disable`);
    const rollbackResponse = await api.post(`/v1/redemptions/${redeemed.body["id"]}/rollback`);
    expect(rollbackResponse.body).toMatchObject({
      amount: -700,
      gift: { amount: -700 },
      voucher: { gift: { balance: 1000 } },
    });
  });

  test("keep the discounts of earlier redemptions", async () => {
    const order = { source_id: newCode("order"), amount: 10_000 };
    await redeem(api, await percentVoucher(api, 10), { order });
    const second = await redeem(api, await percentVoucher(api, 10), {
      order: { source_id: order.source_id },
    });
    expect(second.body["order"]).toMatchObject({ total_amount: 8100 });
    const rollbackResponse = await api.post(`/v1/redemptions/${second.body["id"]}/rollback`);
    expect(rollbackResponse.body["order"]).toMatchObject({
      status: "PAID",
      total_discount_amount: 1000,
      total_amount: 9000,
    });
  });

  test("remove the free units of the redemption from the order", async () => {
    const price = 700;
    const product = await api.post("/v1/products", { name: newCode("Vase"), price });
    const code = newCode("UNIT");
    const unit = {
      type: "UNIT",
      unit_off: 2,
      unit_type: product.body["id"],
      effect: "ADD_NEW_ITEMS",
    };
    await api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount: unit });
    const redeemed = await redeem(api, code, { order: { items: [{ quantity: 1, price: 1000 }] } });
    expect(redeemed.body["order"]).toMatchObject({
      amount: 2400,
      initial_amount: 1000,
      items: [{}, { quantity: 2, initial_quantity: 0 }],
    });
    const rollbackResponse = await api.post(`/v1/redemptions/${redeemed.body["id"]}/rollback`);
    expect(rollbackResponse.body["order"]).toMatchObject({ amount: 1000, total_amount: 1000 });
    expect(rollbackResponse.body["order"].items).toHaveLength(1);
  });

  test("roll back a stack as a whole", async () => {
    const codes = [await percentVoucher(api, 10), await percentVoucher(api, 20)];
    const order = { source_id: newCode("order"), amount: 1000 };
    const redeemed = await api.post("/v1/redemptions", {
      redeemables: codes.map((id) => ({ object: "voucher", id })),
      order,
    });
    const { redemptions, parent_redemption: parent } = redeemed.body;

    const part = await api.post(`/v1/redemptions/${redemptions[0].id}/rollback`);
    expect(part.body).toMatchObject({
      key: "invalid_redemption_parent",
      details: "You can rollback only a redemption that does not have parent redemption.",
    });
    const single = await api.post(`/v1/redemptions/${parent.id}/rollback`);
    expect(single.body).toMatchObject({
      key: "invalid_redemption",
      details:
        "You can rollback only a single redemption. Use different endpoint for stacked redemption.",
    });

    const rollbackResponse = await api.post(`/v1/redemptions/${parent.id}/rollbacks`, {
      reason: "returned",
    });
    expect(rollbackResponse.status, rollbackResponse.text).toBe(200);
    expect(rollbackResponse.body).toMatchObject({
      rollbacks: redemptions.map(({ id }: Json) => ({ redemption: id, reason: "returned" })),
      parent_rollback: { redemption: parent.id },
      order: { status: "CANCELED", total_amount: 1000 },
    });
    const { rollbacks, parent_rollback: parentRollback } = rollbackResponse.body;
    const stored = await api.get(`/v1/orders/${order.source_id}`);
    expect(stored.body["redemptions"][parent.id]).toMatchObject({
      rollback_id: parentRollback.id,
      rollback_stacked: rollbacks.map(({ id }: Json) => id),
    });
    for (const code of codes) {
      const voucher = await api.get(`/v1/vouchers/${code}`);
      expect(voucher.body["redemption"].redeemed_quantity).toBe(0);
    }
    const twice = await api.post(`/v1/redemptions/${parent.id}/rollbacks`);
    expect(twice.body).toMatchObject({ key: "already_rolled_back" });
  });

  test("include the campaign, and are read back as they were returned", async () => {
    const promotion = await api.post("/v1/campaigns", {
      name: newCode("promotion"),
      campaign_type: "PROMOTION",
      promotion: {
        tiers: [{ name: "all", action: { discount: { type: "AMOUNT", amount_off: 50 } } }],
      },
    });
    const tierId: string = promotion.body["promotion"].tiers[0].id;
    const redeemed = await api.post("/v1/redemptions", {
      redeemables: [
        { object: "promotion_tier", id: tierId },
        { object: "voucher", id: await percentVoucher(api, 10) },
      ],
      order: { amount: 1000 },
    });
    expect(redeemed.status, redeemed.text).toBe(200);
    const parentId: string = redeemed.body["parent_redemption"].id;
    const rollbackResponse = await api.post(`/v1/redemptions/${parentId}/rollbacks`);
    expect(rollbackResponse.body["rollbacks"]).toMatchObject([
      { redeemable_id: tierId, related_object_parent_id: promotion.body["id"] },
      { redeemable_type: "voucher", related_object_parent_id: null },
    ]);
    for (const rollback of [
      ...rollbackResponse.body["rollbacks"],
      rollbackResponse.body["parent_rollback"],
    ]) {
      expect((await api.get(`/v1/redemptions/${rollback.id}`)).body).toEqual(rollback);
    }
  });

  test("accept a single redemption on the endpoint for stacks", async () => {
    const redeemed = await redeem(api, await percentVoucher(api, 10), { order: { amount: 1000 } });
    const rollbackResponse = await api.post(`/v1/redemptions/${redeemed.body["id"]}/rollbacks`);
    expect(rollbackResponse.body).toMatchObject({
      rollbacks: [{ redemption: redeemed.body["id"] }],
      order: { status: "CANCELED" },
    });
    expect(rollbackResponse.body).not.toHaveProperty("parent_rollback");
  });

  test("are rejected for ids that cannot be rolled back", async () => {
    const buyer = { source_id: newCode("buyer") };
    const stranger = { source_id: newCode("stranger") };
    const [order, other] = [newCode("order"), newCode("order")];
    const code = await percentVoucher(api, 10, 2);
    const redeemed = await redeem(api, code, {
      order: { source_id: order, amount: 1000 },
      customer: buyer,
    });
    const path = `/v1/redemptions/${redeemed.body["id"]}/rollback`;
    const failed = await redeem(api, await usedVoucher(api), { order: { amount: 100 } });

    const rejections: readonly (readonly [ApiResponse, Json])[] = [
      [
        await api.post("/v1/redemptions/r_0/rollback"),
        { code: 404, key: "not_found", resource_type: "redemption", resource_id: "r_0" },
      ],
      [
        await api.post(`/v1/redemptions/${failed.body["resource_id"]}/rollback`),
        { code: 400, key: "invalid_redemption" },
      ],
      [
        await api.post(path, { customer: stranger }),
        { key: "invalid_customer", details: "Customer is not related with redemption." },
      ],
      [
        await api.post(path, { order: { source_id: other } }),
        { key: "invalid_order", details: "Order is not related with redemption." },
      ],
    ];
    for (const [{ body }, expected] of rejections) expect(body).toMatchObject(expected);

    const own = await api.post(path, { customer: buyer, order: { source_id: order } });
    expect(own.status, own.text).toBe(200);
  });

  test("are possible for three calendar months, in the project's time zone", async () => {
    const settings = { sandbox: true, timezone: "Europe/Warsaw" };
    const { id, api: own } = await newProject(stack, settings);
    const setClock = (now: string) =>
      managementApi(stack).put(`/management/v1/projects/${id}/clock`, { now });
    await setClock("2026-11-30T10:00:00.000Z");
    const code = await percentVoucher(own, 10);
    const [last, late] = [
      await redeem(own, code, { order: { amount: 100 } }),
      await redeem(own, code, { order: { amount: 100 } }),
    ];
    await setClock("2027-02-28T10:00:00.000Z");
    const inTime = await own.post(`/v1/redemptions/${last.body["id"]}/rollback`);
    expect(inTime.status, inTime.text).toBe(200);
    await setClock("2027-02-28T10:00:00.001Z");
    const tooLate = await own.post(`/v1/redemptions/${late.body["id"]}/rollback`);
    expect(tooLate.status).toBe(400);
    expect(tooLate.body).toMatchObject({ key: "invalid_rollback_params" });
  });

  test("leave the order unchanged when the project is configured so", async () => {
    const { id, api: own } = await newProject(stack);
    await managementApi(stack).post(`/management/v1/projects/${id}/stacking-rules`, {
      redeemables_rollback_order_mode: "WITHOUT_ORDER",
    });
    const order = { source_id: newCode("order"), amount: 1000 };
    const redeemed = await redeem(own, await percentVoucher(own, 10), { order });
    const rollbackResponse = await own.post(`/v1/redemptions/${redeemed.body["id"]}/rollback`);
    expect(rollbackResponse.body["order"]).toMatchObject({ status: "PAID", total_amount: 900 });
    const stored = await own.get(`/v1/orders/${order.source_id}`);
    expect(stored.body).toMatchObject({ status: "PAID", total_amount: 900 });
    expect(stored.body["redemptions"][redeemed.body["id"]]).toMatchObject({
      rollback_id: rollbackResponse.body["id"],
    });
  });
});

async function percentVoucher(api: Api, percentOff: number, quantity?: number): Promise<string> {
  const code = newCode("BACK");
  const redeemed = await api.post("/v1/vouchers", {
    code,
    type: "DISCOUNT_VOUCHER",
    discount: { type: "PERCENT", percent_off: percentOff },
    ...(quantity !== undefined && { redemption: { quantity } }),
  });
  expect(redeemed.status, redeemed.text).toBe(200);
  return code;
}

async function usedVoucher(api: Api): Promise<string> {
  const code = await percentVoucher(api, 10, 1);
  await redeem(api, code, { order: { amount: 100 } });
  return code;
}

const redeem = (api: Api, code: string, body: Json): Promise<ApiResponse> =>
  api.post(`/v1/vouchers/${code}/redemption`, body);
