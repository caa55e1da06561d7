import {
  type KnownValue,
  type RuleLine,
  type RuleName,
  type RuleReader,
  booleanValue,
  countValue,
  idsOperand,
  metadataOperand,
} from "@scrip/rules";

import { type RedemptionUsage, countIncrement, countKey } from "../counts/counts.ts";
import { ruleCount } from "../counts/rule-counts.ts";
import type { DecisionRequest } from "../decision/decision-request.ts";
import type { Subject } from "../input/subject.ts";
import { sumOf } from "../order/minor-units.ts";
import { type OrderState, totalAmount } from "../order/order-state.ts";

/** What rules are checked against. */
export type RuleContext = Omit<
  DecisionRequest,
  "redeemables" | "catalogue" | "explain" | "stacking"
> & {
  readonly subject: Subject;
  /** The order before any redeemable, and just before this one. */
  readonly start: OrderState;
  readonly state: OrderState;
};

/** What the redeemable does, once it is worked out. */
export type RuleEffect = {
  readonly state: OrderState;
  readonly usage: RedemptionUsage;
  /** Points that it takes; null when it is no loyalty card. */
  readonly points: bigint | null;
};

/** What the names in rules mean; spec/validation-and-redemption.md §3.3. */
export function ruleReader(facts: RuleContext, effect: RuleEffect | null): RuleReader {
  const { time, customer, order, start } = facts;
  return {
    time,
    hasCustomer: customer !== null,
    hasOrder: order !== null,
    // Most rules do not look at the lines.
    get lines() {
      return cachedLines(start);
    },
    read: (name, property) => readValue(name, property, { ...facts, effect }),
  };
}

/** All redeemables of a request read the same lines. */
const linesByOrder = new WeakMap<OrderState, readonly RuleLine[]>();

function cachedLines(start: OrderState): readonly RuleLine[] {
  const lines = linesByOrder.get(start) ?? start.lines.map(ruleLine);
  linesByOrder.set(start, lines);
  return lines;
}

/** As it was sent, whatever earlier redeemables did to it. */
const ruleLine = ({
  snapshot: facts,
  price,
  quantity,
  amount,
}: OrderState["lines"][number]): RuleLine => ({
  productId: facts.productId,
  skuId: facts.skuId,
  productSourceId: facts.productSourceId,
  skuSourceId: facts.skuSourceId,
  collections: facts.collections,
  price,
  quantity,
  amount,
  metadata: facts.metadata,
  productMetadata: facts.productMetadata,
});

type OperandSource = RuleContext & { readonly effect: RuleEffect | null };

function readValue(
  name: RuleName,
  property: string | null,
  facts: OperandSource,
): KnownValue | null {
  const { customer, order, effect } = facts;
  switch (name) {
    case "customer.segment":
      return customer && idsOperand(customer.segments);
    case "customer.loyalty.tier":
      return customer && idsOperand(customer.loyaltyTiers);
    case "customer.metadata":
      return customer && metadataOperand(customer.metadata, property ?? "");
    case "order.metadata":
      return order && metadataOperand(order.metadata, property ?? "");
    case "redemption.metadata":
      return metadataOperand(facts.metadata, property ?? "");
    case "order.amount":
      return countValue(totalAmount(facts.state));
    case "order.initial_amount":
      return countValue(facts.start.initialAmount);
    case "order.total_amount":
      return effect && countValue(totalAmount(effect.state));
    case "order.items.count":
      return countValue(sumOf(facts.start.lines, ({ quantity }) => quantity));
    case "redemption.api_key":
      return idsOperand([facts.caller.channelId]);
    case "redemption.user.login":
      return facts.caller.userId === null ? null : idsOperand([facts.caller.userId]);
    case "publication.redeemable_by_linked_customer":
      return isHeldByCustomer(facts);
    case "redemption.reward.pay_with_points.points_used":
      return effect === null || effect.points === null ? null : countValue(effect.points);
    default:
      return readCount(name, facts);
  }
}

function isHeldByCustomer({ subject, customer }: OperandSource): KnownValue | null {
  if (subject.kind !== "voucher") return null;
  const { holderId } = subject.snapshot;
  return booleanValue(holderId !== null && holderId === (customer?.id ?? null));
}

/** What was redeemed before, and what this redemption adds; null for a name that counts nothing. */
function readCount(name: RuleName, facts: OperandSource): KnownValue | null {
  const count = ruleCount(name, facts.subject, facts);
  if (count === null) return null;
  const added = facts.effect === null ? ONE_REDEMPTION : countIncrement(facts.effect.usage, count);
  return countValue((facts.counts.get(countKey(count)) ?? 0n) + added);
}

/** Sums are asked for only when the effect is known; redemptions always count as one. */
const ONE_REDEMPTION = 1n;
