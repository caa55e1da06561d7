import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { newId } from "@scrip/ids";
import { type Order, OrderSchema, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import { testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { repairOrders } from "../src/store/order-repairs.ts";
import { saveOrders } from "../src/store/orders.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());

const NOON = new Date("2026-03-01T12:00:00Z");
const LATER = new Date("2026-03-01T13:00:00Z");

test("an order that becomes paid is told once, with the order as it is then", async () => {
  const order = givenOrder({ customerId: "cust_1", amount: 500n });
  await save(order, NOON);
  expect(await toldOf(order)).toEqual([]);

  const paid = { ...order, status: OrderStatus.PAID };
  await save(paid, LATER);
  await save({ ...paid, status: OrderStatus.CANCELED }, LATER);
  await save(paid, LATER);
  expect(await toldOf(order)).toEqual([
    { topic: "scrip.orders.v1", key: "cust_1", projectId: "proj_1", order: paid },
  ]);
});

test("saving and repairing the same paid order at once tells it once", async () => {
  const order = givenOrder({ status: OrderStatus.PAID });
  const row = { projectId: "proj_1", order, at: NOON };
  await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      i % 2 === 0 ? saveOrders(db, [row]) : repairOrders(db, [row]),
    ),
  );
  expect(await toldOf(order)).toHaveLength(1);
});

test("batches that write the same orders in opposite orders do not wait for each other", async () => {
  const rows = Array.from({ length: 200 }, () => givenOrder({ status: OrderStatus.PAID })).map(
    (order) => ({ projectId: "proj_1", order, at: NOON }),
  );
  for (let round = 0; round < 10; round += 1) {
    await Promise.all([saveOrders(db, rows), saveOrders(db, rows.toReversed())]);
  }
  await Promise.all([saveOrders(db, rows), repairOrders(db, rows.toReversed())]);
  expect(await toldOf(rows[0]!.order)).toHaveLength(1);
});

test("a repair tells what a process that died has neither stored nor told", async () => {
  const order = givenOrder({ status: OrderStatus.PAID });
  await repairOrders(db, [{ projectId: "proj_1", order, at: NOON }]);
  expect(await toldOf(order)).toMatchObject([{ order }]);
});

test("a redemption is told although the order was edited before it was repaired", async () => {
  const order = givenOrder({ status: OrderStatus.CANCELED });
  await save(order, LATER);
  const paid = { ...order, status: OrderStatus.PAID };
  await repairOrders(db, [{ projectId: "proj_1", order: paid, at: NOON }]);
  expect(await toldOf(order)).toMatchObject([{ order: paid }]);
});

test("one batch tells each of its paid orders, and no other", async () => {
  const orders = [OrderStatus.PAID, OrderStatus.CREATED, OrderStatus.PAID].map((status) =>
    givenOrder({ status }),
  );
  await saveOrders(
    db,
    orders.map((order) => ({ projectId: "proj_1", order, at: NOON })),
  );
  const told = await Promise.all(orders.map((order) => toldOf(order)));
  expect(told.map((events) => events.length)).toEqual([1, 0, 1]);
});

const givenOrder = (init: MessageInitShape<typeof OrderSchema>): Order =>
  create(OrderSchema, { id: newId("ord"), ...init });

const save = (order: Order, at: Date): Promise<void> =>
  saveOrders(db, [{ projectId: "proj_1", order, at }]);

async function toldOf({ id }: Order) {
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
