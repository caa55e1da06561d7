import { afterAll, describe, expect, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { COMPOSITIONS, startStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("a shop on %s", async (composition) => {
  const stack = await startStack(composition);
  afterAll(() => stack[Symbol.asyncDispose]());
  const api = await serverApi(stack);

  const ok = async (answer: ReturnType<typeof api.get>): Promise<Json> => {
    const { status, text, body } = await answer;
    expect(status, text).toBe(200);
    return body;
  };

  test("keeps an order whose amounts follow from its items", async () => {
    const sourceId = newCode("order");
    const order = await ok(
      api.post("/v1/orders", {
        source_id: sourceId,
        amount: 1,
        discount_amount: 100,
        customer: { source_id: newCode("buyer"), name: "Ann" },
        metadata: { channel: "web" },
        items: [
          { source_id: "a", quantity: "2", price: 1_000 },
          { source_id: "b", amount: 500, discount_amount: 50 },
        ],
      }),
    );
    expect(order).toMatchObject({
      object: "order",
      source_id: sourceId,
      status: "CREATED",
      amount: 2_500,
      initial_amount: 2_500,
      discount_amount: 100,
      items_discount_amount: 50,
      total_discount_amount: 150,
      total_amount: 2_350,
      metadata: { channel: "web" },
      items: [
        { object: "order_item", amount: 2_000, subtotal_amount: 2_000 },
        { amount: 500, discount_amount: 50, subtotal_amount: 450 },
      ],
    });
    expect(order["id"]).toMatch(/^ord_[0-9a-f]{18}$/);
    expect(order["customer"]).toEqual({ id: order["customer_id"], object: "customer" });
    expect(await ok(api.get(`/v1/orders/${order["id"]}`))).toEqual(order);
    expect(await ok(api.get(`/v1/orders/${sourceId}`))).toEqual(order);

    const paid = await ok(
      api.put(`/v1/orders/${sourceId}`, { id: "x", status: "PAID", metadata: { till: 4 } }),
    );
    expect(paid).toMatchObject({
      id: order["id"],
      status: "PAID",
      amount: 2_500,
      total_amount: 2_350,
      customer_id: order["customer_id"],
      metadata: { channel: "web", till: 4 },
    });
    const shrunk = await ok(
      api.post("/v1/orders", { source_id: sourceId, items: [{ price: 60, quantity: 1 }] }),
    );
    expect(shrunk).toMatchObject({ id: order["id"], status: "PAID", amount: 60, total_amount: 0 });
  });

  test("refuses orders that name what is not there, or cannot be", async () => {
    const refused = async (body: Json): Promise<unknown[]> => {
      const answer = await api.post("/v1/orders", body);
      return [answer.status, answer.body["key"], answer.body["resource_type"]];
    };
    expect(await refused({ id: "ord_unknown" })).toEqual([404, "not_found", "order"]);
    expect(await refused({ customer: { id: "cust_unknown" } })).toEqual([
      404,
      "not_found",
      "customer",
    ]);
    expect(await refused({ referrer_id: "cust_unknown" })).toEqual([404, "not_found", "customer"]);
    expect((await refused({ amount: -1 }))[1]).toBe("invalid_payload");
    expect((await refused({ status: "LOST" }))[1]).toBe("invalid_payload");
    expect((await refused({ items: [{ price: -1 }] }))[1]).toBe("invalid_order");
    expect((await api.get("/v1/orders/nothing")).body["details"]).toBe(
      "Cannot find order with id nothing",
    );

    const [one, two] = [newCode("one"), newCode("two")];
    await ok(api.post("/v1/orders", { source_id: one }));
    await ok(api.post("/v1/orders", { source_id: two }));
    const taken = await api.put(`/v1/orders/${two}`, { source_id: one });
    expect([taken.status, taken.body["key"]]).toEqual([409, "duplicate_found"]);
  });

  test("lists orders oldest first, in pages", async () => {
    const ids: string[] = [];
    for (const day of [3, 1, 2]) {
      const order = await ok(
        api.post("/v1/orders", { amount: day, created_at: `2001-01-0${day}T00:00:00.000Z` }),
      );
      ids[day - 1] = order["id"];
    }
    const first = await ok(api.get("/v1/orders?limit=2"));
    expect([first["object"], first["data_ref"]]).toEqual(["list", "orders"]);
    expect(first["orders"].map(({ id }: Json) => id)).toEqual(ids.slice(0, 2));
    const second = await ok(api.get("/v1/orders?limit=2&page=2"));
    expect(second["orders"][0].id).toBe(ids[2]);
    const last = await ok(api.get("/v1/orders?order=-created_at&limit=100"));
    expect(last["total"]).toBe(first["total"]);
    expect((await api.get("/v1/orders?order=amount")).body["key"]).toBe("invalid_query_params");
  });

  test("redeems on a stored order, which keeps what it was and becomes paid", async () => {
    const code = newCode("TEN");
    await ok(
      api.post("/v1/vouchers", {
        code,
        type: "DISCOUNT_VOUCHER",
        discount: { type: "AMOUNT", amount_off: 100 },
      }),
    );
    const order = await ok(
      api.post("/v1/orders", { items: [{ price: 500, quantity: 1 }], metadata: { a: 1 } }),
    );
    const redemption = await ok(
      api.post(`/v1/vouchers/${code}/redemption`, { order: { id: order["id"] } }),
    );
    const paid = await ok(api.get(`/v1/orders/${order["id"]}`));
    expect(paid).toMatchObject({ status: "PAID", total_amount: 400, metadata: { a: 1 } });
    expect(Object.keys(paid["redemptions"])).toEqual([redemption["id"]]);
    const canceled = await ok(api.put(`/v1/orders/${order["id"]}`, { status: "CANCELED" }));
    expect(canceled).toMatchObject({ status: "CANCELED", redemptions: paid["redemptions"] });
  });
});
