import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { ItemResult } from "@scrip/proto/scrip/common/v1/items_pb";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { afterAll, describe, expect, test } from "vitest";

import { createVoucher } from "./builders-requests.ts";
import { idempotency, newProject, rejectionKey, startServices } from "./deps.ts";

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const { orders, products, validations } = services;

const DAY_MS = 86_400_000;

const items = [
  { sourceId: "shirt", quantity: 2n, price: 1_000n },
  { sourceId: "mug", quantity: 1n, price: 500n },
];

describe("CreateOrder", () => {
  test("calculates the amounts from the items, and creates the customer", async () => {
    const call = newProject();
    const order = await orders.createOrder(
      { sourceId: "cart-1", items, customer: { sourceId: "ann" }, metadata: { channel: "web" } },
      call(),
    );
    expect(order).toMatchObject({
      sourceId: "cart-1",
      status: OrderStatus.CREATED,
      amount: 2_500n,
      totalAmount: 2_500n,
      items: [{ amount: 2_000n }, { amount: 500n }],
      metadata: { channel: "web" },
    });
    expect(order.id).toMatch(/^ord_/);
    expect(order.customerId).toMatch(/^cust_/);
    for (const orderId of [order.id ?? "", "cart-1"]) {
      expect(await orders.getOrder({ orderId }, call())).toMatchObject({ id: order.id });
    }
  });

  test("updates the order of a source id that exists", async () => {
    const call = newProject();
    const created = await orders.createOrder({ sourceId: "cart-1", items }, call());
    const updated = await orders.createOrder({ sourceId: "cart-1", amount: 900n }, call());
    expect(updated.id).toBe(created.id);
    expect(await orders.listOrders({}, call())).toMatchObject({ total: 1n });
  });

  test("adds the ids of the product and SKU that the order creates in the catalogue", async () => {
    const call = newProject();
    const lines = [
      { sourceId: "hat", product: { override: true, name: "Hat" } },
      { sourceId: "hat", quantity: 2n },
      {
        product: { override: true, sourceId: "mug" },
        sku: { override: true, sourceId: "mug-red", sku: "Red" },
      },
    ];
    const created = await orders.createOrder({ sourceId: "cart-1", items: lines }, call());
    const { code } = await createVoucher(services, call());
    const order = {
      sourceId: "cart-2",
      items: [{ sourceId: "cap", price: 900n, product: { override: true } }],
    };
    await validations.redeemVoucher({ code, order }, call());
    const redeemed = await orders.getOrder({ orderId: "cart-2" }, call());

    const [hat, mug, cap] = await Promise.all(
      ["hat", "mug", "cap"].map(
        async (productId) => (await products.getProduct({ productId }, call())).id,
      ),
    );
    const { id: red } = await products.getSku({ skuId: "mug-red" }, call());
    expect(created.items).toMatchObject([
      { productId: hat, product: { id: hat, sourceId: "hat", name: "Hat" } },
      { productId: hat },
      { productId: mug, product: { id: mug }, skuId: red, sku: { id: red, sku: "Red" } },
    ]);
    expect(await orders.getOrder({ orderId: "cart-1" }, call())).toMatchObject({
      items: created.items,
    });
    expect(redeemed.items).toMatchObject([{ productId: cap, product: { id: cap } }]);
  });

  test("rejects a customer or referrer without id and source id with invalid_payload", async () => {
    const call = newProject();
    for (const nobody of [{ customer: { name: "Ann" } }, { referrer: {} }]) {
      const order = { sourceId: "cart-1", amount: 1n, ...nobody };
      expect(await rejectionKey(orders.createOrder(order, call()))).toBe("invalid_payload");
    }
    expect(await orders.listOrders({}, call())).toMatchObject({ total: 0n });
    await orders.createOrder({ sourceId: "cart-1", amount: 1n }, call());
    const update = { orderId: "cart-1", customer: { name: "Ann" } };
    expect(await rejectionKey(orders.updateOrder(update, call()))).toBe("invalid_payload");
  });

  test("rejects an unknown id and an unknown customer with not_found", async () => {
    const call = newProject();
    const unknownOrder = { id: "ord_000000000000000000", amount: 1n };
    expect(await rejectionKey(orders.createOrder(unknownOrder, call()))).toBe("not_found");
    const unknownCustomer = { amount: 1n, customerId: "cust_000000000000000000" };
    expect(await rejectionKey(orders.createOrder(unknownCustomer, call()))).toBe("not_found");
  });
});

describe("UpdateOrder", () => {
  test("changes the status, and keeps everything else", async () => {
    const call = newProject();
    const created = await orders.createOrder({ sourceId: "cart-1", items }, call());
    const updated = await orders.updateOrder(
      { orderId: "cart-1", status: OrderStatus.PAID, metadata: { paid: "card" } },
      call(),
    );
    expect(updated).toMatchObject({
      id: created.id,
      status: OrderStatus.PAID,
      amount: 2_500n,
      metadata: { paid: "card" },
    });
    expect(updated.items).toHaveLength(2);
  });

  test("changes an order after its last change, also for a request that arrived before it", async () => {
    const call = newProject();
    const now = Date.now();
    const { id = "" } = await orders.createOrder(
      { sourceId: "cart-1", amount: 900n },
      call({ now }),
    );
    const updatedAt = async (at: number): Promise<number> => {
      const updated = await orders.updateOrder({ orderId: id, amount: 800n }, call({ now: at }));
      return updated.updatedAt === undefined ? 0 : timestampMs(updated.updatedAt);
    };
    expect(await updatedAt(now + 1_000)).toBe(now + 1_000);
    // It waited while another request changed the order.
    expect(await updatedAt(now + 500)).toBe(now + 1_001);
    // The clock of a sandbox project was moved back.
    expect(await updatedAt(now - DAY_MS)).toBe(now - DAY_MS);
  });

  test("replaces the items as a whole", async () => {
    const call = newProject();
    await orders.createOrder({ sourceId: "cart-1", items }, call());
    const updated = await orders.updateOrder(
      { orderId: "cart-1", items: [{ sourceId: "mug", quantity: 3n, price: 500n }] },
      call(),
    );
    expect(updated).toMatchObject({ amount: 1_500n, items: [{ quantity: 3n }] });
  });

  test("rejects a source id of another order with duplicate_found", async () => {
    const call = newProject();
    await orders.createOrder({ sourceId: "cart-1", amount: 1n }, call());
    await orders.createOrder({ sourceId: "cart-2", amount: 1n }, call());
    const request = { orderId: "cart-2", sourceId: "cart-1" };
    expect(await rejectionKey(orders.updateOrder(request, call()))).toBe("duplicate_found");
    expect(await orders.getOrder({ orderId: "cart-2" }, call())).toMatchObject({ amount: 1n });
  });

  test("rejects an unknown order with not_found", async () => {
    expect(await rejectionKey(orders.updateOrder({ orderId: "none" }, newProject()()))).toBe(
      "not_found",
    );
  });

  test("keeps the discount of a redemption", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call());
    const order = { sourceId: "cart-1", amount: 10_000n };
    const redemption = await validations.redeemVoucher({ code, order }, call());
    // The gateway resolves the card; other vouchers have no points.
    await expect(
      validations.redeemMemberReward({ memberId: code, order }, call()),
    ).rejects.toMatchObject({ key: "not_found" });
    const updated = await orders.updateOrder(
      { orderId: "cart-1", status: OrderStatus.FULFILLED },
      call(),
    );
    expect(updated).toMatchObject({ totalDiscountAmount: 1_000n, totalAmount: 9_000n });
    expect(Object.keys(updated.redemptions)).toEqual([redemption.id]);
  });
});

describe("GetOrder and ListOrders", () => {
  test("list pages in the requested order, and the total", async () => {
    const call = newProject();
    const start = Date.now() - 60_000;
    for (const [index, sourceId] of ["a", "b", "c"].entries()) {
      await orders.createOrder({ sourceId, amount: 1n }, call({ now: start + index * 1_000 }));
    }
    const page = await orders.listOrders({ limit: 2n, page: 1n, order: "-created_at" }, call());
    expect(page.orders.map(({ sourceId }) => sourceId)).toEqual(["c", "b"]);
    expect(page.total).toBe(3n);
  });

  test("reject an unknown order, and one of another project, with not_found", async () => {
    const { id = "" } = await orders.createOrder({ amount: 1n }, newProject()());
    const call = newProject();
    expect(await rejectionKey(orders.getOrder({ orderId: id }, call()))).toBe("not_found");
    expect(await orders.listOrders({}, call())).toMatchObject({ orders: [], total: 0n });
  });
});

describe("ImportOrders", () => {
  test("stores orders at the time of the import, item by item", async () => {
    const call = newProject();
    const request = {
      items: [
        { sourceId: "old-1", status: OrderStatus.PAID, items, customer: { sourceId: "ann" } },
        { sourceId: "old-2", amount: 700n, createdAt: timestampFromMs(DAY_MS) },
        { amount: 100n },
        { sourceId: "old-1", metadata: { imported: true } },
      ],
    };
    const keyed = { ...call(), idempotency: idempotency("aa_1:0") };
    const { outcomes } = await services.imports.importOrders(request, keyed);
    expect(
      outcomes.map(({ outcome }) =>
        outcome.case === "rejected" ? outcome.value.key : outcome.value,
      ),
    ).toEqual([ItemResult.CREATED, ItemResult.CREATED, "missing_param", ItemResult.UPDATED]);
    expect((await services.imports.importOrders(request, keyed)).outcomes).toEqual(outcomes);
    expect(await orders.listOrders({}, call())).toMatchObject({ total: 2n });
    const paid = await orders.getOrder({ orderId: "old-1" }, call());
    expect(paid).toMatchObject({
      status: OrderStatus.PAID,
      amount: 2_500n,
      metadata: { imported: true },
    });
    const second = await orders.getOrder({ orderId: "old-2" }, call());
    expect(timestampMs(second.createdAt!)).toBeGreaterThan(DAY_MS * 2);
  });
});
