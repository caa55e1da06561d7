import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createPgEventBus, type DeliveredEvent, type DeliveryContext } from "@scrip/events";
import { newId } from "@scrip/ids";
import { type OrderSchema, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import {
  RedemptionFailedSchema,
  RedemptionMadeSchema,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";
import { asAdmin, emptyDatabase, testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { onOrderPaid, ORDERS_TOPIC } from "../src/events/on-order-paid.ts";
import { onRedemption, REDEMPTIONS_TOPIC } from "../src/events/on-redemption.ts";
import { createLoyaltyService, MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { shareLockCustomers, upsertOrders } from "../src/store/customer-counts.ts";
import { findProfile } from "../src/store/customer-profiles.ts";
import { deleteCustomer, upsertCustomer } from "../src/store/customers.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());
const handler = onRedemption(db);

const NOON = Date.parse("2026-03-01T12:00:00Z");

test("redemptions and their credits are counted, each once", async () => {
  const ada = await givenCustomer();
  const events = [ada.made({}), ada.made({ amount: 300n }), ada.made({ amount: 50n })];
  await handle(events);
  await handle([...events, ...events]);
  expect(await ada.summary()).toMatchObject({ redemptions: 3n, giftAmount: 350n });
});

test("what was refused and what was rolled back counts too, in any order", async () => {
  const ada = await givenCustomer();
  const order = { id: `${ada.id}-1`, amount: 700n };
  const events = [
    ada.rolledBack({ amount: 100n, order: { ...order, status: OrderStatus.CANCELED } }, NOON + 2),
    ada.rolledBack({ rejected: true }),
    ada.failed(),
    ada.failed(),
    ada.made({ amount: 100n }),
    ada.made({ amount: 30n }),
  ];
  await handle([ada.made({ order: { ...order, status: OrderStatus.PAID } }, NOON + 1)]);
  expect(await ada.summary()).toMatchObject({ orders: 1n, ordersAmount: 700n });
  await handle(events);
  await handle(events);
  expect(await ada.summary()).toMatchObject({
    redemptions: 3n,
    failed: 2n,
    rolledBack: 1n,
    rollbacksRejected: 1n,
    giftAmount: 30n,
    orders: 0n,
  });
});

test("paid orders are summed in their newest state, others are not", async () => {
  const ada = await givenCustomer();
  const paid = { status: OrderStatus.PAID };
  await handle([
    ada.made({ order: { id: `${ada.id}-1`, amount: 1000n, ...paid } }, NOON + 1),
    ada.made(
      { order: { id: `${ada.id}-2`, amount: 500n, status: OrderStatus.FULFILLED } },
      NOON + 2,
    ),
    ada.made({ order: { id: `${ada.id}-1`, amount: 900n, ...paid } }, NOON + 3),
    ada.made({ order: { id: `${ada.id}-3`, amount: 77n, status: OrderStatus.CREATED } }, NOON + 4),
  ]);
  await handle([ada.made({ order: { id: `${ada.id}-1`, amount: 1n, ...paid } }, NOON)]);
  expect(await ada.summary()).toMatchObject({
    redemptions: 5n,
    orders: 2n,
    ordersAmount: 1400n,
    lastOrder: { amount: 900n, at: new Date(NOON + 3) },
  });
});

test("an order that was paid without a redemption counts, and is one with that of a later redemption", async () => {
  const ada = await givenCustomer();
  const order = { id: `${ada.id}-1`, amount: 700n, status: OrderStatus.PAID, customerId: ada.id };
  const paid = ada.paid(order, NOON);
  await onOrderPaid(db)([paid, paid], CONTEXT);
  expect(await ada.summary()).toMatchObject({ redemptions: 0n, orders: 1n, ordersAmount: 700n });
  await handle([ada.made({ order: { ...order, amount: 650n } }, NOON + 1)]);
  await onOrderPaid(db)([paid], CONTEXT);
  expect(await ada.summary()).toMatchObject({ redemptions: 1n, orders: 1n, ordersAmount: 650n });
});

test("an order that was rolled back does not count again when its payment is told of later", async () => {
  const ada = await givenCustomer();
  const order = { id: `${ada.id}-1`, amount: 700n, status: OrderStatus.PAID, customerId: ada.id };
  const canceled = { ...order, status: OrderStatus.CANCELED };
  const late = ada.paid(order, NOON);
  // The topics of redemptions and of orders are read side by side.
  await handle([ada.made({ order }, NOON), ada.rolledBack({ order: canceled }, NOON)]);
  await onOrderPaid(db)([late], CONTEXT);
  expect(await ada.summary()).toMatchObject({ orders: 0n, ordersAmount: 0n, lastOrder: null });
  await onOrderPaid(db)([ada.paid(order, NOON + 1)], CONTEXT);
  expect(await ada.summary()).toMatchObject({ orders: 1n, ordersAmount: 700n });
});

test("an order of nobody, or of who is gone, is not counted", async () => {
  const ada = await givenCustomer();
  const order = { id: `${ada.id}-1`, amount: 700n, status: OrderStatus.PAID };
  await deleteCustomer(db, ada.projectId, ada.id);
  await onOrderPaid(db)([ada.paid(order), ada.paid({ ...order, customerId: ada.id })], CONTEXT);
  const { rows } = await db.query("select 1 from customer_order where project_id = $1", [
    ada.projectId,
  ]);
  expect(rows).toEqual([]);
});

test("handlers that meet the same customers at once lose nothing", async () => {
  const customers = [await givenCustomer(), await givenCustomer(), await givenCustomer()];
  const batches = Array.from({ length: 12 }, (_, i) => {
    const events = customers.map((customer) =>
      customer.made({
        amount: 1n,
        order: { id: `${customer.id}-shared`, amount: BigInt(i), status: OrderStatus.PAID },
      }),
    );
    return i % 2 === 0 ? events : events.toReversed();
  });
  await Promise.all(batches.map((batch) => handle(batch)));
  for (const customer of customers) {
    expect(await customer.summary()).toMatchObject({
      redemptions: 12n,
      giftAmount: 12n,
      orders: 1n,
    });
  }
});

test("a customer who was deleted leaves no trace, and does not come back", async () => {
  const ada = await givenCustomer();
  const order = { id: `${ada.id}-1`, amount: 5n, status: OrderStatus.PAID };
  await handle([ada.made({ order })]);
  await deleteCustomer(db, ada.projectId, ada.id);
  await handle([ada.made({ order })]);
  expect(await findProfile(db, ada.projectId, ada.id)).toBeUndefined();
  const { rows } = await db.query(
    `select customer_id from customer_order where customer_id = $1
      union all select customer_id from customer_redemptions where customer_id = $1`,
    [ada.id],
  );
  expect(rows).toEqual([]);
});

test("a redemption without a customer writes nothing", async () => {
  const ada = await givenCustomer();
  const { customerId: _, ...nobody } = ada.facts({});
  await handle([eventOf(nobody)]);
  const { rows } = await db.query("select 1 from inbox where project_id = $1", [ada.projectId]);
  expect(rows).toEqual([]);
});

test("the service counts what arrives over the bus", async () => {
  await using database = await emptyDatabase();
  const options = { databaseUrl: database.url, onError: () => {} };
  const bus = await createPgEventBus({ url: database.url, onError: options.onError });
  {
    await using service = await createLoyaltyService({ ...options, poolSize: 2, bus });
    expect(await service.ready()).toBe(true);
    const ada = await givenCustomer();
    await bus.publish([ada.made({})]);
    await expect.poll(() => bus.lag("loyalty")).toEqual([]);
  }
  await bus.close(1_000);
});

test("a customer who is deleted while redemptions are counted leaves no counts", async () => {
  const ada = await givenCustomer();
  const counted = { projectId: ada.projectId, customerId: ada.id };
  let deletion: Promise<unknown> | undefined;
  await db.transaction(async (tx) => {
    await shareLockCustomers(tx, [counted]);
    deletion = deleteCustomer(db, ada.projectId, ada.id);
    let isOver = false;
    void deletion.catch(() => {}).then(() => (isOver = true));
    await expect.poll(async () => isOver || (await countWaiting()) > 0).toBe(true);
    await upsertOrders(tx, [
      { ...counted, orderId: "ord_1", amount: 1n, at: new Date(NOON), paid: true },
    ]);
  });
  // On a slow machine it has given the wait up, and is asked for again.
  const again = () => deleteCustomer(db, ada.projectId, ada.id);
  expect(await deletion?.catch(again)).toEqual({ segments: 0n, orders: 1n });
  const { rows } = await db.query("select from customer_order where project_id = $1", [
    ada.projectId,
  ]);
  expect(rows).toEqual([]);
});

const countWaiting = (): Promise<number> =>
  asAdmin(db.url, async (client) => {
    const { rows } = await client.query(
      `select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length;
  });

type Facts = MessageInitShape<typeof RedemptionMadeSchema>;

async function givenCustomer() {
  const projectId = newId("proj");
  const id = await upsertCustomer(db, {
    projectId,
    newId: newId("cust"),
    sourceId: "ada",
    change: { fields: {}, metadata: {} },
    at: new Date(NOON),
  });
  const facts = (said: Facts, at = NOON) => ({
    projectId,
    redemptionId: newId("r"),
    voucherId: "v_1",
    customerId: id,
    date: timestampFromMs(at),
    ...said,
  });
  return {
    projectId,
    id,
    facts,
    made: (said: Facts, at = NOON) => eventOf(facts(said, at)),
    rolledBack: (said: MessageInitShape<typeof RedemptionRolledBackSchema>, at = NOON) => ({
      ...eventOf(facts({})),
      type: RedemptionRolledBackSchema.typeName,
      payload: toBinary(
        RedemptionRolledBackSchema,
        create(RedemptionRolledBackSchema, {
          projectId,
          customerId: id,
          date: timestampFromMs(at),
          ...said,
        }),
      ),
    }),
    failed: () => ({
      ...eventOf(facts({})),
      type: RedemptionFailedSchema.typeName,
      payload: toBinary(
        RedemptionFailedSchema,
        create(RedemptionFailedSchema, { projectId, customerId: id }),
      ),
    }),
    paid: (order: MessageInitShape<typeof OrderSchema>, at = NOON): DeliveredEvent => ({
      ...eventOf(facts({})),
      topic: ORDERS_TOPIC,
      type: OrderPaidSchema.typeName,
      payload: toBinary(
        OrderPaidSchema,
        create(OrderPaidSchema, { projectId, order, date: timestampFromMs(at) }),
      ),
    }),
    summary: async () => (await findProfile(db, projectId, id))?.summary,
  };
}

function eventOf(facts: Facts & { projectId: string }): DeliveredEvent {
  return {
    id: newId("event"),
    topic: REDEMPTIONS_TOPIC,
    key: "v_1",
    projectId: facts.projectId,
    type: RedemptionMadeSchema.typeName,
    payload: toBinary(RedemptionMadeSchema, create(RedemptionMadeSchema, facts)),
    headers: {},
    occurredAt: new Date(NOON),
    partition: 0,
    offset: 0n,
  };
}

const CONTEXT: DeliveryContext = {
  group: "loyalty",
  topic: REDEMPTIONS_TOPIC,
  signal: new AbortController().signal,
};

const handle = (events: readonly DeliveredEvent[]): Promise<void> => handler(events, CONTEXT);
