import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { newId } from "@scrip/ids";
import { type Order, OrderSchema, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import { testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { repairOrders } from "../src/store/order-repairs.ts";
import { saveImportedOrders, saveOrders } from "../src/store/orders.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());

const NOON = new Date("2026-03-01T12:00:00Z");
const LATER = new Date("2026-03-01T13:00:00Z");

test("emits one event when an order becomes paid, with the order at that time", async () => {
  const order = buildOrder({ customerId: "cust_1", amount: 500n });
  await save(order, NOON);
  expect(await publishedOf(order)).toEqual([]);

  const paid = { ...order, status: OrderStatus.PAID };
  await save(paid, LATER);
  await save({ ...paid, status: OrderStatus.CANCELED }, LATER);
  await save(paid, LATER);
  expect(await publishedOf(order)).toEqual([
    { topic: "scrip.orders.v1", key: "cust_1", projectId: "proj_1", order: paid },
  ]);
});

test("emits one event when the same paid order is saved and repaired concurrently", async () => {
  const order = buildOrder({ status: OrderStatus.PAID });
  const row = { projectId: "proj_1", order, at: NOON };
  await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      i % 2 === 0 ? saveOrders(db, [row]) : repairOrders(db, [row]),
    ),
  );
  expect(await publishedOf(order)).toHaveLength(1);
});

test("does not deadlock when batches contain the same orders in opposite order", async () => {
  const rows = Array.from({ length: 200 }, () => buildOrder({ status: OrderStatus.PAID })).map(
    (order) => ({ projectId: "proj_1", order, at: NOON }),
  );
  for (let round = 0; round < 10; round += 1) {
    await Promise.all([saveOrders(db, rows), saveOrders(db, rows.toReversed())]);
  }
  await Promise.all([saveOrders(db, rows), repairOrders(db, rows.toReversed())]);
  expect(await publishedOf(rows[0]!.order)).toHaveLength(1);
});

test("emits no event for an imported order, nor for a later edit of one that was paid", async () => {
  const order = buildOrder({ status: OrderStatus.PAID });
  await saveImportedOrders(db, [{ projectId: "proj_1", order, at: NOON }]);
  await save(order, LATER);
  expect(await publishedOf(order)).toEqual([]);
});

test("emits the event of a repaired order", async () => {
  const order = buildOrder({ status: OrderStatus.PAID });
  await repairOrders(db, [{ projectId: "proj_1", order, at: NOON }]);
  expect(await publishedOf(order)).toMatchObject([{ order }]);
});

test("emits the event of a redemption whose order was edited before its repair", async () => {
  const order = buildOrder({ status: OrderStatus.CANCELED });
  await save(order, LATER);
  const paid = { ...order, status: OrderStatus.PAID };
  await repairOrders(db, [{ projectId: "proj_1", order: paid, at: NOON }]);
  expect(await publishedOf(order)).toMatchObject([{ order: paid }]);
});

test("emits an event for each paid order of a batch, and for no other", async () => {
  const orders = [OrderStatus.PAID, OrderStatus.CREATED, OrderStatus.PAID].map((status) =>
    buildOrder({ status }),
  );
  await saveOrders(
    db,
    orders.map((order) => ({ projectId: "proj_1", order, at: NOON })),
  );
  const published = await Promise.all(orders.map((order) => publishedOf(order)));
  expect(published.map((events) => events.length)).toEqual([1, 0, 1]);
});

const buildOrder = (init: MessageInitShape<typeof OrderSchema>): Order =>
  create(OrderSchema, { id: newId("ord"), ...init });

const save = (order: Order, at: Date): Promise<void> =>
  saveOrders(db, [{ projectId: "proj_1", order, at }]);

async function publishedOf({ id }: Order) {
  const { rows } = await db.query<{ topic: string; key: string; payload: Buffer }>(
    "select topic, key, payload from outbox where project_id = 'proj_1' and type = $1",
    [OrderPaidSchema.typeName],
  );
  return rows
    .map(({ topic, key, payload }) => {
      const { projectId, order } = fromBinary(OrderPaidSchema, payload);
      return { topic, key, projectId, order };
    })
    .filter(({ order }) => order?.id === id);
}
