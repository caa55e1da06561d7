import { createEventBus, type EventBus, eventMessage, readKafkaConnection } from "@scrip/events";
import { OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import { expect } from "vitest";

import { type Json, newCode, serverApi } from "./api.ts";
import { ok } from "./rule-builders.ts";
import type { Stack } from "./stack.ts";

/** How an order was paid, and how many events say so. */
export type EventsByPayment = Readonly<Record<string, number>>;

export const ONE_EVENT_PER_ORDER: EventsByPayment = {
  "never paid": 0,
  "by a redemption": 1,
  "by a redemption, then again by updates and redemptions": 1,
  "by its creation, sent twice with one Idempotency-Key": 1,
  "by its creation, then again by an update and a redemption": 1,
  "by a redemption, rolled back, then again by both": 1,
  "by updates and redemptions concurrently": 1,
};

const CLOSE_MS = 10_000;

/** Pays an order in each way, and counts the events in the log of the stack. */
export async function payOrders(stack: Stack): Promise<EventsByPayment> {
  const bus = await createEventBus({
    kafka: readKafkaConnection({ SCRIP_KAFKA_BROKERS: stack.kafka }),
    url: stack.databaseUrl,
    onError: () => {},
  });
  try {
    return await payAndCount(stack, bus);
  } finally {
    await bus.close(CLOSE_MS);
  }
}

async function payAndCount(stack: Stack, bus: EventBus): Promise<EventsByPayment> {
  const paid = new Map<string, Set<string>>();
  const redeemed = new Set<string | undefined>();
  const group = newCode("payments");
  await bus.subscribe({
    group,
    topics: ["scrip.orders.v1", "scrip.redemptions.v1"],
    handler: async (batch) => {
      for (const event of batch) {
        const sourceId = eventMessage(event, OrderPaidSchema)?.order?.sourceId;
        // The log may hold an event twice, with the same id.
        if (sourceId !== undefined)
          paid.set(sourceId, (paid.get(sourceId) ?? new Set()).add(event.id));
        redeemed.add(eventMessage(event, RedemptionMadeSchema)?.redemptionId);
      }
    },
  });
  const api = await serverApi(stack);
  // Events of one customer and of one voucher are in order.
  const customer = { source_id: newCode("buyer") };
  const code = newCode("CENT");
  const discount = { type: "AMOUNT", amount_off: 1 };
  await ok(api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount }));
  const redemptions: string[] = [];

  const create = (sourceId: string, status: string, headers = {}): Promise<Json> =>
    ok(api.post("/v1/orders", { source_id: sourceId, amount: 900, status, customer }, headers));
  const update = (sourceId: string, status = "PAID"): Promise<Json> =>
    ok(api.put(`/v1/orders/${sourceId}`, { status }));
  const redeem = async (sourceId: string): Promise<Json> => {
    const order = { source_id: sourceId, amount: 900 };
    const redemption = await ok(api.post(`/v1/vouchers/${code}/redemption`, { order, customer }));
    redemptions.push(redemption["id"]);
    return redemption;
  };
  const ways: Readonly<
    Record<keyof typeof ONE_EVENT_PER_ORDER, (order: string) => Promise<unknown>>
  > = {
    "never paid": (order) => create(order, "CREATED"),
    "by a redemption": redeem,
    async "by a redemption, then again by updates and redemptions"(order) {
      await redeem(order);
      await update(order);
      await update(order, "FULFILLED");
      await update(order);
      await redeem(order);
    },
    async "by its creation, sent twice with one Idempotency-Key"(order) {
      const headers = { "idempotency-key": newCode("key") };
      await create(order, "PAID", headers);
      await create(order, "PAID", headers);
    },
    async "by its creation, then again by an update and a redemption"(order) {
      await create(order, "PAID");
      await update(order, "CANCELED");
      await update(order);
      await redeem(order);
    },
    async "by a redemption, rolled back, then again by both"(order) {
      const { id } = await redeem(order);
      await ok(api.post(`/v1/redemptions/${id}/rollback`));
      await redeem(order);
      await update(order);
    },
    async "by updates and redemptions concurrently"(order) {
      await create(order, "CREATED");
      await Promise.all([redeem(order), update(order), redeem(order), update(order)]);
    },
  };
  const orders = new Map<string, string>();
  for (const [way, pay] of Object.entries(ways)) {
    const order = newCode("order");
    orders.set(way, order);
    await pay(order);
  }

  // An event too many could also follow from a redemption, when validation repairs its order.
  await expect.poll(() => redemptions.filter((id) => !redeemed.has(id))).toEqual([]);
  await expect.poll(() => bus.lag("validation")).toEqual([]);
  const last = newCode("last");
  await create(last, "PAID");
  await expect.poll(() => paid.has(last)).toBe(true);
  return Object.fromEntries([...orders].map(([way, order]) => [way, paid.get(order)?.size ?? 0]));
}
