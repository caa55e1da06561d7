import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { DeliveredEvent } from "@scrip/events";
import { newId } from "@scrip/ids";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { SegmentEnteredSchema } from "@scrip/proto/scrip/events/v1/customers_pb";
import { LoyaltyTierChangedSchema } from "@scrip/proto/scrip/events/v1/loyalty_tiers_pb";
import { OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import { afterAll, describe, expect, test } from "vitest";

import { ORDERS_TOPIC } from "../src/events/on-order-changed.ts";
import { CUSTOMERS_TOPIC } from "../src/events/topics.ts";
import { newEvent, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { earningIn, type Rule } from "./earning-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { customers, earningRules, segments, tiers } = loyalty;
const { earn, publish, setUp } = earningIn(loyalty);

const date = timestampFromMs(NOON);
const targets = { applicableTo: [{ object: "product", id: "prod_1" }] };
const proportional = (calculationType: string, measures: object): Rule["loyalty"] => ({
  type: "PROPORTIONAL",
  calculationType,
  ...measures,
});
const each = (fields: object = {}) => ({ every: 10n, points: 1n, ...fields });

/** Every calculation, and what it earns for the customer, order and custom event below. */
const CALCULATIONS = {
  FIXED: { loyalty: { type: "FIXED", points: 1n }, earned: 1n },
  ORDER_AMOUNT: {
    loyalty: proportional("ORDER_AMOUNT", { order: { amount: each() } }),
    earned: 100n,
  },
  ORDER_TOTAL_AMOUNT: {
    loyalty: proportional("ORDER_TOTAL_AMOUNT", { order: { totalAmount: each() } }),
    earned: 80n,
  },
  ORDER_METADATA: {
    loyalty: proportional("ORDER_METADATA", { order: { metadata: each({ property: "n" }) } }),
    earned: 6n,
  },
  ORDER_ITEMS_QUANTITY: {
    loyalty: proportional("ORDER_ITEMS_QUANTITY", { orderItems: { quantity: each(targets) } }),
    earned: 2n,
  },
  ORDER_ITEMS_AMOUNT: {
    loyalty: proportional("ORDER_ITEMS_AMOUNT", { orderItems: { amount: each(targets) } }),
    earned: 60n,
  },
  ORDER_ITEMS_SUBTOTAL_AMOUNT: {
    loyalty: proportional("ORDER_ITEMS_SUBTOTAL_AMOUNT", {
      orderItems: { subtotalAmount: each(targets) },
    }),
    earned: 50n,
  },
  CUSTOMER_METADATA: {
    loyalty: proportional("CUSTOMER_METADATA", { customer: { metadata: each({ property: "n" }) } }),
    earned: 7n,
  },
  CUSTOM_EVENT_METADATA: {
    loyalty: proportional("CUSTOM_EVENT_METADATA", {
      customEvent: { metadata: each({ property: "n" }) },
    }),
    earned: 9n,
  },
} as const;
type CalculationType = keyof typeof CALCULATIONS;
const TYPES = Object.keys(CALCULATIONS) as readonly CalculationType[];

const OF_CUSTOMER: readonly CalculationType[] = ["FIXED", "CUSTOMER_METADATA"];
const ALLOWED: Readonly<Record<string, readonly CalculationType[]>> = {
  "order.paid": TYPES.filter((type) => type !== "CUSTOM_EVENT_METADATA"),
  reviewed: [...OF_CUSTOMER, "CUSTOM_EVENT_METADATA"],
  "customer.segment.entered": OF_CUSTOMER,
  "customer.loyalty.tier.joined": OF_CUSTOMER,
  "customer.loyalty.tier.left": OF_CUSTOMER,
  "customer.loyalty.tier.upgraded": OF_CUSTOMER,
  "customer.loyalty.tier.downgraded": OF_CUSTOMER,
  "customer.loyalty.tier.prolonged": OF_CUSTOMER,
};
const SEGMENT_ENTERED = "customer.segment.entered";

/** A program with a member, and with a segment and a tier that rules can name. */
async function startProgram() {
  const program = await setUp([{ event: "unrelated", loyalty: CALCULATIONS.FIXED.loyalty }]);
  const { call, campaignId } = program;
  const filter = { name: { conditions: { $is: ["Ada"] } } };
  const segment = await segments.createSegment({ name: "s", type: "passive", filter }, call);
  const tier = { name: "Gold", points: { from: 1_000_000n } };
  const created = await tiers.createLoyaltyTiers({ campaignId, tiers: [tier] }, call);
  const sourceId = newId("cust");
  const { id: customerId } = await customers.createCustomer(
    { sourceId, metadata: { n: 70 } },
    call,
  );
  await publish([program.published(customerId)]);
  const tierId = created.tiers[0]?.id ?? "";
  const ruleOf = (event: string, type: CalculationType): Rule => ({
    event,
    loyalty: CALCULATIONS[type].loyalty,
    ...(event === SEGMENT_ENTERED && { segment: { id: segment.id } }),
    ...(event.startsWith("customer.loyalty.tier.") && { loyaltyTier: { id: tierId } }),
  });
  return {
    ...program,
    customerId,
    tierId,
    segmentId: segment.id,
    create: async (event: string, type: CalculationType): Promise<string> => {
      const request = { campaignId, rules: [ruleOf(event, type)] };
      const { rules } = await earningRules.createEarningRules(request, call);
      return rules[0]?.id ?? "";
    },
  };
}

type Program = Awaited<ReturnType<typeof startProgram>>;

/** An event that rules of this name wait for. */
function happening(
  { projectId, campaignId, customerId, segmentId, tierId, happened }: Program,
  name: string,
): DeliveredEvent {
  if (name === "order.paid") {
    const item = (productId: string, price: bigint, quantity: bigint, discount: bigint) => ({
      productId,
      price,
      quantity,
      amount: price * quantity,
      discountAmount: discount,
      subtotalAmount: price * quantity - discount,
    });
    const order = {
      id: newId("ord"),
      customerId,
      status: OrderStatus.PAID,
      amount: 1_000n,
      totalAmount: 800n,
      metadata: { n: 60 },
      items: [item("prod_1", 30n, 20n, 100n), item("prod_2", 40n, 10n, 100n)],
    };
    return newEvent(
      OrderPaidSchema,
      { projectId, topic: ORDERS_TOPIC },
      { projectId, date, order },
    );
  }
  if (name === SEGMENT_ENTERED) {
    return newEvent(
      SegmentEnteredSchema,
      { projectId, topic: CUSTOMERS_TOPIC },
      { projectId, customerId, segmentId, date },
    );
  }
  const change = /^customer\.loyalty\.tier\.(.+)$/.exec(name)?.[1];
  if (change === undefined) return happened(customerId, name, { metadata: { n: 90 } });
  const gold = { id: tierId, name: "Gold" };
  const tiersOf = change === "left" ? { previous: gold } : { tier: gold };
  return newEvent(
    LoyaltyTierChangedSchema,
    { projectId, topic: CUSTOMERS_TOPIC },
    { projectId, customerId, cardId: newId("v"), campaignId, change, date, ...tiersOf },
  );
}

test.each(Object.keys(ALLOWED).filter((event) => event !== "reviewed"))(
  "a custom event named %s earns nothing for its rules",
  async (event) => {
    const program = await startProgram();
    await program.create(event, "FIXED");
    await earn([program.happened(program.customerId, event)]);
    expect(await program.ledger()).toEqual([]);
  },
);

describe.each(Object.entries(ALLOWED))("rules of %s", (event, allowed) => {
  test("have the calculations of the event, and each earns its points", async () => {
    const program = await startProgram();
    const expected = new Map<string, bigint>();
    for (const type of TYPES) {
      const created = program.create(event, type);
      if (allowed.includes(type)) expected.set(await created, CALCULATIONS[type].earned);
      else await expect(created, type).rejects.toMatchObject({ key: "invalid_payload" });
    }
    await earn([happening(program, event)]);
    const ledger = await program.ledger();
    const earned = ledger.map(({ details, points }) => [
      (details as { readonly earning_rule: { readonly id: string } }).earning_rule.id,
      points,
    ]);
    expect(new Map(earned as [string, bigint][])).toEqual(expected);
    expect(await program.violations()).toEqual([]);
  });
});
