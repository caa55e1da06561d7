import { describe, expect, test } from "vitest";

import { type Api, type ApiResponse, type Json, newCode, serverApi } from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("rollbacks after updates of the order (%s)", async (composition) => {
  const api = await serverApi(await sharedStack(composition));

  test("take added units off an order whose amount was sent again", async () => {
    const product = await api.post("/v1/products", { source_id: newCode("cup"), price: 1500 });
    const free = { type: "UNIT", unit_off: 1, unit_type: product.body["id"] };
    const voucher = await api.post("/v1/vouchers", {
      type: "DISCOUNT_VOUCHER",
      discount: { ...free, effect: "ADD_NEW_ITEMS" },
    });
    const order = { source_id: newCode("order"), items: [{ quantity: 2, price: 2000 }] };
    const redeemed = await redeem(api, voucher.body["code"], { order });

    // The amounts of the items override it.
    const updated = await api.put(`/v1/orders/${order.source_id}`, { amount: 4000 });
    const rollbackResponse = await api.post(`/v1/redemptions/${redeemed.body["id"]}/rollback`);

    expect(updated.body).toMatchObject({ amount: 5500, initial_amount: 4000, total_amount: 4000 });
    expect(rollbackResponse.body["order"]).toMatchObject({
      amount: 4000,
      initial_amount: 4000,
      total_amount: 4000,
      items: [{ amount: 4000 }],
    });
  });

  test.each([
    ["percentages on items", { type: "PERCENT", percent_off: 50, effect: "APPLY_TO_ITEMS" }],
    ["added units", { type: "UNIT", unit_off: 1, effect: "ADD_NEW_ITEMS" }],
    ["replaced units", { type: "UNIT", unit_off: 1, effect: "REPLACE_ITEMS" }],
  ])("take %s off an order that was sent back with changes", async (_name, discount) => {
    const product = await api.post("/v1/products", { source_id: newCode("cup"), price: 1500 });
    const unit = { unit_type: product.body["id"] };
    const { effect, ...units } = discount;
    const voucher = await api.post("/v1/vouchers", {
      type: "DISCOUNT_VOUCHER",
      discount:
        effect === "REPLACE_ITEMS"
          ? { type: "UNIT", effect: "ADD_MANY_ITEMS", units: [{ ...units, ...unit, effect }] }
          : { ...discount, ...(discount.type === "UNIT" && unit) },
    });
    const path = `/v1/orders/${newCode("order")}`;
    const order = {
      source_id: path.slice("/v1/orders/".length),
      items: [{ quantity: 2, price: 2000 }],
    };
    const redeemed = await redeem(api, voucher.body["code"], { order });
    const { body: stored } = await api.get(path);

    const updated = await api.put(path, { ...stored, status: "FULFILLED" });
    expect(updated.body).toMatchObject({
      status: "FULFILLED",
      initial_amount: 4000,
      total_amount: stored["total_amount"],
      items: stored["items"].map(({ id, initial_quantity }: Json) => ({ id, initial_quantity })),
    });
    const rollbackResponse = await api.post(`/v1/redemptions/${redeemed.body["id"]}/rollback`);
    expect(rollbackResponse.body["order"]).toMatchObject({
      status: "CANCELED",
      amount: 4000,
      initial_amount: 4000,
      total_discount_amount: 0,
      total_amount: 4000,
      items: [{ quantity: 2, amount: 4000, discount_amount: 0, subtotal_amount: 4000 }],
    });
  });

  test("take each redemption off an order that was sent back with the second one", async () => {
    const product = await api.post("/v1/products", { source_id: newCode("cup"), price: 1500 });
    const discounts = [
      { type: "PERCENT", percent_off: 50, effect: "APPLY_TO_ITEMS" },
      { type: "UNIT", unit_off: 1, unit_type: product.body["id"], effect: "ADD_NEW_ITEMS" },
      { type: "PERCENT", percent_off: 10 },
    ];
    const path = `/v1/orders/${newCode("order")}`;
    let order: Json = {
      source_id: path.slice("/v1/orders/".length),
      items: [{ quantity: 2, price: 2000 }],
    };
    const totals: number[] = [];
    const redemptions: string[] = [];
    for (const discount of discounts) {
      const voucher = await api.post("/v1/vouchers", { type: "DISCOUNT_VOUCHER", discount });
      const { body, text } = await redeem(api, voucher.body["code"], { order });
      expect(body["result"], text).toBe("SUCCESS");
      order = body["order"];
      totals.push(order["total_amount"]);
      redemptions.push(body["id"]);
    }
    expect(totals).toEqual([2000, 2000, 1800]);

    const left: unknown[] = [];
    for (const id of redemptions) {
      await api.post(`/v1/redemptions/${id}/rollback`);
      const { body } = await api.get(path);
      left.push([body["amount"], body["items_discount_amount"], body["total_amount"]]);
    }
    expect(left).toEqual([
      [5500, 1500, 3800],
      [4000, 0, 3800],
      [4000, 0, 4000],
    ]);
    expect((await api.get(path)).body).toMatchObject({ status: "CANCELED", initial_amount: 4000 });
  });

  test("ignore ids of items that the order does not have", async () => {
    const order = { source_id: newCode("order"), items: [{ id: "ordli_1", price: 500 }] };
    const created = await api.post("/v1/orders", order);
    const { id } = created.body["items"][0];
    expect(id).toMatch(/^ordli_[0-9a-f]{18}$/);

    const items = [
      { id, price: 500 },
      { id, price: 600 },
      { id: "other", price: 700 },
    ];
    const updated = await api.put(`/v1/orders/${order.source_id}`, { items });
    const ids = updated.body["items"].map((item: Json) => item["id"]);
    expect(ids[0]).toBe(id);
    expect(new Set(ids).size).toBe(3);
    const voucher = await api.post("/v1/vouchers", {
      type: "DISCOUNT_VOUCHER",
      discount: { type: "PERCENT", percent_off: 10 },
    });
    const { code } = voucher.body;
    const redeemed = await redeem(api, code, { order: { items: [{ id, price: 500 }] } });
    expect(redeemed.body["order"].items[0].id).not.toBe(id);
  });
});

const redeem = (api: Api, code: string, body: Json): Promise<ApiResponse> =>
  api.post(`/v1/vouchers/${code}/redemption`, body);
