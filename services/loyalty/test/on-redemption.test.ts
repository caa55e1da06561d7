import { createPgEventBus, type DeliveredEvent } from "@scrip/events";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import { migratedDatabase } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import { onRedemption, REDEMPTIONS_TOPIC } from "../src/events/on-redemption.ts";
import { createLoyaltyService } from "../src/service.ts";
import { shareLockCustomers, upsertOrders } from "../src/store/customer-counts.ts";
import { findProfile } from "../src/store/customer-profiles.ts";
import { deleteCustomer } from "../src/store/customers.ts";
import { deliveryFrom, newEvent, newSubject, NOON } from "./builders.ts";
import { startLoyalty, untilBlocked } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db } = loyalty;
const handler = onRedemption(db);
const handle = (events: readonly DeliveredEvent[]): Promise<void> =>
  handler(events, deliveryFrom(REDEMPTIONS_TOPIC));

describe("onRedemption", () => {
  test("counts redemptions and redeemed credits once, even if an event is delivered repeatedly", async () => {
    const ada = await newSubject(loyalty);
    const events = [
      ada.redeemed({}),
      ada.redeemed({ amount: 300n }),
      ada.redeemed({ amount: 50n }),
    ];
    await handle(events);
    await handle([...events, ...events]);
    expect(await ada.summary()).toMatchObject({ redemptions: 3n, giftAmount: 350n });
  });

  test("counts failed redemptions and rollbacks in any order", async () => {
    const ada = await newSubject(loyalty);
    const order = { id: `${ada.id}-1`, amount: 700n };
    const events = [
      ada.rolledBack({ amount: 100n, order: { ...order, status: OrderStatus.CANCELED } }, NOON + 2),
      ada.rolledBack({ rejected: true }),
      ada.failed(),
      ada.failed(),
      ada.redeemed({ amount: 100n }),
      ada.redeemed({ amount: 30n }),
    ];
    await handle([ada.redeemed({ order: { ...order, status: OrderStatus.PAID } }, NOON + 1)]);
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

  test("sums paid orders in their newest state and no others", async () => {
    const ada = await newSubject(loyalty);
    const paid = { status: OrderStatus.PAID };
    await handle([
      ada.redeemed({ order: { id: `${ada.id}-1`, amount: 1000n, ...paid } }, NOON + 1),
      ada.redeemed(
        { order: { id: `${ada.id}-2`, amount: 500n, status: OrderStatus.FULFILLED } },
        NOON + 2,
      ),
      ada.redeemed({ order: { id: `${ada.id}-1`, amount: 900n, ...paid } }, NOON + 3),
      ada.redeemed(
        { order: { id: `${ada.id}-3`, amount: 77n, status: OrderStatus.CREATED } },
        NOON + 4,
      ),
    ]);
    await handle([ada.redeemed({ order: { id: `${ada.id}-1`, amount: 1n, ...paid } }, NOON)]);
    expect(await ada.summary()).toMatchObject({
      redemptions: 5n,
      orders: 2n,
      ordersAmount: 1400n,
      lastOrder: { amount: 900n, at: new Date(NOON + 3) },
    });
  });

  test("loses no count when handlers update the same customers concurrently", async () => {
    const customers = [
      await newSubject(loyalty),
      await newSubject(loyalty),
      await newSubject(loyalty),
    ];
    const batches = Array.from({ length: 12 }, (_, i) => {
      const events = customers.map((customer) =>
        customer.redeemed({
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

  test("stores nothing for a deleted customer", async () => {
    const ada = await newSubject(loyalty);
    const order = { id: `${ada.id}-1`, amount: 5n, status: OrderStatus.PAID };
    await handle([ada.redeemed({ order })]);
    await deleteCustomer(db, ada.projectId, ada.id);
    await handle([ada.redeemed({ order })]);
    expect(await findProfile(db, ada.projectId, ada.id)).toBeUndefined();
    const { rows } = await db.query(
      `select customer_id from customer_order where customer_id = $1
      union all select customer_id from customer_redemptions where customer_id = $1`,
      [ada.id],
    );
    expect(rows).toEqual([]);
  });

  test("stores nothing for a redemption without a customer", async () => {
    const ada = await newSubject(loyalty);
    const { customerId: _, ...anonymous } = ada.redemption({});
    await handle([
      newEvent(
        RedemptionMadeSchema,
        { projectId: ada.projectId, topic: REDEMPTIONS_TOPIC },
        anonymous,
      ),
    ]);
    const { rows } = await db.query("select 1 from inbox where project_id = $1", [ada.projectId]);
    expect(rows).toEqual([]);
  });

  test("stores nothing for a customer who is deleted while their redemptions are counted", async () => {
    const ada = await newSubject(loyalty);
    const counted = { projectId: ada.projectId, customerId: ada.id };
    let deletion: Promise<unknown> | undefined;
    await db.transaction(async (tx) => {
      await shareLockCustomers(tx, [counted]);
      deletion = deleteCustomer(db, ada.projectId, ada.id);
      await untilBlocked(db, deletion);
      await upsertOrders(tx, [
        { ...counted, orderId: "ord_1", amount: 1n, at: new Date(NOON), paid: true },
      ]);
    });
    // On a slow machine the wait has timed out, and the deletion is repeated.
    const again = () => deleteCustomer(db, ada.projectId, ada.id);
    expect(await deletion?.catch(again)).toEqual({ segments: 0n, orders: 1n, events: 0n });
    const { rows } = await db.query("select from customer_order where project_id = $1", [
      ada.projectId,
    ]);
    expect(rows).toEqual([]);
  });
  test("is subscribed to the bus by the service", async () => {
    await using database = await migratedDatabase();
    const options = { databaseUrl: database.url, onError: () => {} };
    const bus = await createPgEventBus({ url: database.url, onError: options.onError });
    {
      await using service = await createLoyaltyService({ ...options, poolSize: 2, bus });
      expect(await service.ready()).toBeUndefined();
      const ada = await newSubject(loyalty);
      await bus.publish([ada.redeemed({})]);
      await expect.poll(() => bus.lag("loyalty")).toEqual([]);
    }
    await bus.close(1_000);
  });
});
