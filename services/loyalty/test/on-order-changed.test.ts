import type { DeliveredEvent } from "@scrip/events";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { afterAll, describe, expect, test } from "vitest";

import { onOrderChanged, ORDERS_TOPIC } from "../src/events/on-order-changed.ts";
import { onRedemption, REDEMPTIONS_TOPIC } from "../src/events/on-redemption.ts";
import { deleteCustomer } from "../src/store/customers.ts";
import { deliveryFrom, newSubject, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db } = loyalty;
const onRedemptions = onRedemption(db);
const handle = (events: readonly DeliveredEvent[]): Promise<void> =>
  onRedemptions(events, deliveryFrom(REDEMPTIONS_TOPIC));
const onOrders = onOrderChanged(db);
const handlePaid = (events: readonly DeliveredEvent[]): Promise<void> =>
  onOrders(events, deliveryFrom(ORDERS_TOPIC));

describe("onOrderChanged", () => {
  test("counts an order that is paid without a redemption, and merges it with a later redemption", async () => {
    const ada = await newSubject(loyalty);
    const order = { id: `${ada.id}-1`, amount: 700n, status: OrderStatus.PAID, customerId: ada.id };
    const paid = ada.paid(order, NOON);
    await handlePaid([paid, paid]);
    expect(await ada.summary()).toMatchObject({ redemptions: 0n, orders: 1n, ordersAmount: 700n });
    await handle([ada.redeemed({ order: { ...order, amount: 650n } }, NOON + 1)]);
    await handlePaid([paid]);
    expect(await ada.summary()).toMatchObject({ redemptions: 1n, orders: 1n, ordersAmount: 650n });
  });

  test("follows edits of the amount and the status of an order", async () => {
    const ada = await newSubject(loyalty);
    const order = { id: `${ada.id}-1`, amount: 700n, customerId: ada.id };
    const { CANCELED, FULFILLED, PAID } = OrderStatus;
    for (const [step, edit, expected] of [
      [0, { status: FULFILLED }, { orders: 1n, ordersAmount: 700n }],
      [1, { status: PAID, amount: 900n }, { orders: 1n, ordersAmount: 900n }],
      [2, { status: CANCELED }, { orders: 0n, ordersAmount: 0n }],
      [3, { status: PAID }, { orders: 1n, ordersAmount: 700n }],
    ] as const) {
      await handlePaid([ada.edited({ ...order, ...edit }, NOON + step)]);
      expect(await ada.summary()).toMatchObject(expected);
    }
  });

  test("does not count an order again when its payment is delivered after its rollback", async () => {
    const ada = await newSubject(loyalty);
    const order = { id: `${ada.id}-1`, amount: 700n, status: OrderStatus.PAID, customerId: ada.id };
    const canceled = { ...order, status: OrderStatus.CANCELED };
    const late = ada.paid(order, NOON);
    // The topics of redemptions and orders are consumed concurrently.
    await handle([ada.redeemed({ order }, NOON), ada.rolledBack({ order: canceled }, NOON)]);
    await handlePaid([late]);
    expect(await ada.summary()).toMatchObject({ orders: 0n, ordersAmount: 0n, lastOrder: null });
    await handlePaid([ada.paid(order, NOON + 1)]);
    expect(await ada.summary()).toMatchObject({ orders: 1n, ordersAmount: 700n });
  });

  test("adds up any number of large orders", async () => {
    const ada = await newSubject(loyalty);
    await db.query(
      `insert into customer_order (project_id, order_id, customer_id, amount, changed_at)
       select $1, 'ord_' || n, $2, 9007199254740991, now() from generate_series(1, 1100) n`,
      [ada.projectId, ada.id],
    );
    const largest = BigInt(Number.MAX_SAFE_INTEGER);
    expect(await ada.summary()).toMatchObject({ orders: 1_100n, ordersAmount: largest });
  });

  test("takes the order with the greater id as the last one when several were paid at the same time", async () => {
    const ada = await newSubject(loyalty);
    const order = { status: OrderStatus.PAID, customerId: ada.id };
    const suffixes = ["3", "9", "1", "5"];
    const paid = suffixes.map((suffix) =>
      ada.paid({ ...order, id: `${ada.id}-${suffix}`, amount: BigInt(suffix) }, NOON),
    );
    for (const one of paid) await handlePaid([one]);
    expect(await ada.summary()).toMatchObject({ lastOrder: { amount: 9n } });
    // Rewrites its row, so that it is the last one in the table.
    await handlePaid([ada.edited({ ...order, id: `${ada.id}-1`, amount: 2n }, NOON)]);
    expect(await ada.summary()).toMatchObject({ lastOrder: { amount: 9n } });
  });

  test("skips orders without a customer or of a deleted one", async () => {
    const ada = await newSubject(loyalty);
    const order = { id: `${ada.id}-1`, amount: 700n, status: OrderStatus.PAID };
    await deleteCustomer(db, ada.projectId, ada.id);
    await handlePaid([ada.paid(order), ada.paid({ ...order, customerId: ada.id })]);
    const { rows } = await db.query("select 1 from customer_order where project_id = $1", [
      ada.projectId,
    ]);
    expect(rows).toEqual([]);
  });
});
