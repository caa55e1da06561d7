import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createPgEventBus, type EventEnvelope } from "@scrip/events";
import { newId } from "@scrip/ids";
import {
  type Order,
  type OrderItemInputSchema,
  OrderRedemptionSchema,
  OrderSchema,
  OrderStatus,
} from "@scrip/proto/scrip/common/v1/order_pb";
import { OrderEditedSchema, OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import {
  RedemptionMadeSchema,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";
import { migratedDatabase, testDatabase, type TestDatabase } from "@scrip/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

import { onRedemption, REDEMPTIONS_TOPIC } from "../src/events/on-redemption.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { findEntry } from "../src/store/catalogue.ts";
import { claimOrder } from "../src/store/order-claims.ts";
import { saveOrdersWithFreeSourceIds } from "../src/store/order-source-ids.ts";
import { findOrder, saveOrders } from "../src/store/orders.ts";

const NOON = new Date("2026-11-21T12:00:00Z");
const LATER = new Date("2026-11-21T12:00:01Z");

const ROLLED_BACK = create(OrderRedemptionSchema, { rollbackId: "rr_1" });

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
});
afterAll(() => db[Symbol.asyncDispose]());

test("stores the order of a redemption whose process died before storing it", async () => {
  await using database = await migratedDatabase();
  const bus = await createPgEventBus({ url: database.url, onError: () => {} });
  const order = buildOrder({ sourceId: "cart-1", status: OrderStatus.PAID, amount: 900n });
  await bus.publish([redemptionMadeAt(NOON, order)]);
  await bus.subscribe({
    group: "validation",
    topics: [REDEMPTIONS_TOPIC],
    handler: onRedemption({ db, newId }),
  });

  await expect
    .poll(() => findOrder(db, "proj_1", { column: "source_id", value: "cart-1" }))
    .toEqual(order);
  await bus.close(1_000);
});

test("applies catalogue overrides together with the order, exactly once", async () => {
  const sourceId = newId("prod");
  const said = (price: bigint) => [{ product: { sourceId, override: true, price } }];
  const priceNow = async () => {
    const key = { column: "source_id", value: sourceId } as const;
    return (await findEntry(db, "product", { projectId: "proj_1", key }))?.price;
  };
  const lost = buildOrder({ amount: 1n, items: [{ product: { sourceId } }] });
  await handle([redemptionMadeAt(NOON, lost, said(900n))]);
  expect(await priceNow()).toBe(900n);
  expect(await findOrder(db, "proj_1", { column: "id", value: lost.id! })).toMatchObject({
    amount: 1n,
    items: [{ productId: expect.stringMatching(/^prod_/) }],
  });

  await db.query("update product set price = 1 where source_id = $1", [sourceId]);
  await handle([redemptionMadeAt(NOON, lost, said(900n))]);
  const stored = buildOrder({ amount: 2n });
  await saveOrders(db, [{ projectId: "proj_1", order: stored, at: NOON }]);
  await handle([redemptionMadeAt(NOON, stored, said(800n))]);
  expect(await priceNow()).toBe(1n);
});

test("leaves an order unchanged that is stored in the same or a later state", async () => {
  const same = buildOrder({ amount: 1n });
  const later = buildOrder({ amount: 2n });
  await saveOrders(db, [
    { projectId: "proj_1", order: same, at: NOON },
    { projectId: "proj_1", order: later, at: LATER },
  ]);
  const before = await rowsOf([same, later]);

  await handle([
    redemptionMadeAt(NOON, { ...same, amount: 7n }),
    redemptionMadeAt(NOON, { ...later, amount: 7n }),
  ]);

  expect(await rowsOf([same, later])).toEqual(before);
});

test("updates an order stored in a state before the redemption", async () => {
  const order = buildOrder({ amount: 100n, status: OrderStatus.CREATED });
  await saveOrders(db, [{ projectId: "proj_1", order, at: NOON }]);
  const redeemed = { ...order, amount: 90n, status: OrderStatus.PAID };

  await handle([redemptionMadeAt(LATER, redeemed)]);

  expect(await findOrder(db, "proj_1", { column: "id", value: order.id! })).toEqual(redeemed);
});

test("stores the state after the last of several redemptions of one order", async () => {
  const order = buildOrder({ amount: 100n });
  await handle([
    redemptionMadeAt(NOON, { ...order, amount: 90n }),
    redemptionMadeAt(LATER, { ...order, amount: 80n }),
  ]);

  const stored = await findOrder(db, "proj_1", { column: "id", value: order.id! });
  expect(stored?.amount).toBe(80n);
});

test.each([
  { cancelPending: true, edits: [{ cancelsPaidOrder: true }] },
  { cancelPending: false, edits: [] },
])(
  "publishes the payment of an order that was canceled before it was stored ($cancelPending)",
  async ({ cancelPending, edits }) => {
    const projectId = newId("proj");
    await db.query(
      `insert into project (project_id, version, deleted, time_zone, first_weekday, case_sensitive_codes,
                            cancel_pending_points_on_order_cancel)
       values ($1, 1, false, 'UTC', 1, true, $2)`,
      [projectId, cancelPending],
    );
    const redeemed = buildOrder({ amount: 90n, status: OrderStatus.PAID });
    const canceled = { ...redeemed, status: OrderStatus.CANCELED };
    await saveOrders(db, [{ projectId, order: canceled, at: LATER }]);
    const made = redemptionMadeAt(NOON, redeemed, [], projectId);

    await handle([made]);
    await handle([made]);

    const { rows } = await db.query<{ type: string; payload: Uint8Array }>(
      "select type, payload from outbox where project_id = $1",
      [projectId],
    );
    const published = (schema: typeof OrderPaidSchema | typeof OrderEditedSchema) =>
      rows.flatMap(({ type, payload }) =>
        type === schema.typeName ? [fromBinary<typeof schema>(schema, payload)] : [],
      );
    expect(published(OrderPaidSchema)).toMatchObject([{ order: redeemed }]);
    expect(published(OrderEditedSchema)).toMatchObject(
      edits.map((edit) => ({ ...edit, order: canceled })),
    );
  },
);

test("leaves a claim to its current claimant", async () => {
  const order = buildOrder({ sourceId: "cart-2", amount: 100n });
  await claimOrder(db, {
    projectId: "proj_1",
    key: { column: "source_id", value: "cart-2" },
    by: "request-1",
    process: 1,
    newId: order.id!,
    at: NOON,
  });

  await handle([redemptionMadeAt(NOON, order)]);

  expect(await findOrder(db, "proj_1", { column: "id", value: order.id! })).toEqual(order);
  const [row] = await rowsOf([order]);
  expect(row?.claimed_by).toBe("request-1");
});

test("restores an order without its source id if another order has taken it", async () => {
  const sourceId = "cart-3";
  const redeemedOrder = buildOrder({ sourceId, amount: 90n, redemptions: { r_1: {} } });
  const taker = buildOrder({ sourceId, amount: 5n });
  await saveOrders(db, [{ projectId: "proj_1", order: taker, at: LATER }]);
  const { sourceId: _, ...back } = redeemedOrder;
  const stored = () => findOrder(db, "proj_1", { column: "id", value: redeemedOrder.id! });

  const bystander = buildOrder({ amount: 1n });
  await handle([redemptionMadeAt(NOON, redeemedOrder), redemptionMadeAt(NOON, bystander)]);
  expect(await stored()).toEqual(back);
  const rolledBack = { ...redeemedOrder, amount: 100n, redemptions: { r_1: ROLLED_BACK } };
  await handle([rolledBackAt(LATER, rolledBack)]);
  expect((await stored())?.amount).toBe(100n);

  const late = buildOrder({ sourceId, amount: 7n });
  await saveOrdersWithFreeSourceIds(db, [
    { projectId: "proj_1", order: late, at: LATER },
    { projectId: "proj_1", order: bystander, at: LATER },
  ]);
  expect((await findOrder(db, "proj_1", { column: "id", value: late.id! }))?.amount).toBe(7n);
  const holder = await findOrder(db, "proj_1", { column: "source_id", value: sourceId });
  expect(holder).toEqual(taker);
});

test("changes nothing when an event is delivered again", async () => {
  const order = buildOrder({ amount: 100n });
  await handle([redemptionMadeAt(NOON, order)]);
  const before = await rowsOf([order]);
  await handle([redemptionMadeAt(NOON, order), redemptionMadeAt(NOON, order)]);
  expect(await rowsOf([order])).toEqual(before);
});

test("stores the order of a rollback, also one with the date of its redemption", async () => {
  const order = buildOrder({ amount: 90n, redemptions: { r_1: {} } });
  await saveOrders(db, [{ projectId: "proj_1", order, at: NOON }]);
  const rolledBack = { ...order, amount: 100n, redemptions: { r_1: ROLLED_BACK } };

  await handle([rolledBackAt(NOON, rolledBack)]);
  expect(await findOrder(db, "proj_1", { column: "id", value: order.id! })).toEqual(rolledBack);

  const before = await rowsOf([order]);
  await handle([rolledBackAt(NOON, rolledBack), redemptionMadeAt(NOON, order)]);
  expect(await rowsOf([order])).toEqual(before);
});

test("does not undo later changes of the order", async () => {
  const order = buildOrder({ amount: 80n, redemptions: { r_1: {} } });
  await saveOrders(db, [{ projectId: "proj_1", order, at: LATER }]);
  await handle([rolledBackAt(NOON, { ...order, redemptions: { r_1: ROLLED_BACK } })]);
  expect(await findOrder(db, "proj_1", { column: "id", value: order.id! })).toEqual(order);
});

test("ignores redemptions without an order and other events of the topic", async () => {
  const other = {
    ...redemptionMadeAt(NOON),
    type: "scrip.events.v1.SomethingNew",
    payload: Buffer.from("?"),
  };
  await expect(handle([redemptionMadeAt(NOON), other])).resolves.toBeUndefined();
});

const handle = (events: readonly EventEnvelope[]): Promise<void> =>
  onRedemption({ db, newId })(
    events.map((event, index) => ({ ...event, partition: 0, offset: BigInt(index) })),
    {
      group: "validation",
      topic: REDEMPTIONS_TOPIC,
      signal: new AbortController().signal,
    },
  );

const buildOrder = (init: MessageInitShape<typeof OrderSchema>): Order =>
  create(OrderSchema, { id: newId("ord"), ...init });

function redemptionMadeAt(
  date: Date,
  order?: Order,
  overrides: MessageInitShape<typeof OrderItemInputSchema>[] = [],
  projectId = "proj_1",
): EventEnvelope {
  const payload = create(RedemptionMadeSchema, {
    projectId,
    redemptionId: newId("r"),
    voucherId: "v_1",
    date: timestampFromDate(date),
    ...(order !== undefined && { order }),
    overrides,
  });
  return {
    id: payload.redemptionId,
    topic: REDEMPTIONS_TOPIC,
    key: payload.voucherId,
    projectId: payload.projectId,
    type: RedemptionMadeSchema.typeName,
    payload: toBinary(RedemptionMadeSchema, payload),
    headers: {},
    occurredAt: date,
  };
}

function rolledBackAt(date: Date, order: Order): EventEnvelope {
  const rolledBack = create(RedemptionRolledBackSchema, {
    projectId: "proj_1",
    rollbackId: newId("rr"),
    redemptionId: "r_1",
    voucherId: "v_1",
    date: timestampFromDate(date),
    order,
  });
  return {
    ...redemptionMadeAt(date),
    id: rolledBack.rollbackId,
    type: RedemptionRolledBackSchema.typeName,
    payload: toBinary(RedemptionRolledBackSchema, rolledBack),
  };
}

/** Includes xmin, which changes with every write of a row. */
async function rowsOf(orders: readonly Order[]): Promise<readonly Record<string, unknown>[]> {
  const { rows } = await db.query(
    `select xmin::text as written_by, document, claimed_by, updated_at
       from shop_order where project_id = 'proj_1' and id = any($1) order by id`,
    [orders.map((order) => order.id)],
  );
  return rows;
}
