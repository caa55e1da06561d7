import {
  type KnownValue,
  type RuleLine,
  type RuleName,
  type RuleReader,
  booleanValue,
  countValue,
  idsOperand,
  metadataOperand,
  countKey,
} from "@scrip/rules";

import { type RedemptionUsage, countIncrement } from "../counts/counts.ts";
import { ruleCount } from "../counts/rule-counts.ts";
import type { DecisionRequest } from "../decision/decision-request.ts";
import type { Subject } from "../input/subject.ts";
import { sumOf } from "../order/minor-units.ts";
import { type OrderState, totalAmount } from "../order/order-state.ts";

/** The context that rules read. */
export type RuleContext = Omit<
  DecisionRequest,
  "redeemables" | "catalogue" | "explain" | "stacking"
> & {
  readonly subject: Subject;
  /** The order before any redeemable, and the order before this one. */
  readonly start: OrderState;
  readonly state: OrderState;
};

/** The effect of the redeemable. */
export type RuleEffect = {
  readonly state: OrderState;
  readonly usage: RedemptionUsage;
  /** Points that it uses; null if it is not a loyalty card. */
  readonly points: bigint | null;
};

/** Returns the operands of rules. docs/validation-rules.md#rule-names */
export function ruleReader(context: RuleContext, effect: RuleEffect | null): RuleReader {
  const { time, customer, order, start } = context;
  return {
    time,
    hasCustomer: customer !== null,
    hasOrder: order !== null,
    // Most rules do not read the lines.
    get lines() {
      return cachedLines(start);
    },
    read: (name, property) => readValue(name, property, { ...context, effect }),
  };
}

/** All redeemables of a request read the same lines. */
const linesByOrder = new WeakMap<OrderState, readonly RuleLine[]>();

function cachedLines(start: OrderState): readonly RuleLine[] {
  const lines = linesByOrder.get(start) ?? start.lines.map(ruleLine);
  linesByOrder.set(start, lines);
  return lines;
}

/** The line as it was sent, without the effects of earlier redeemables. */
const ruleLine = ({
  snapshot: context,
  price,
  quantity,
  amount,
}: OrderState["lines"][number]): RuleLine => ({
  productId: context.productId,
  skuId: context.skuId,
  productSourceId: context.productSourceId,
  skuSourceId: context.skuSourceId,
  collections: context.collections,
  price,
  quantity,
  amount,
  metadata: context.metadata,
  productMetadata: context.productMetadata,
});

type OperandSource = RuleContext & { readonly effect: RuleEffect | null };

function readValue(
  name: RuleName,
  property: string | null,
  context: OperandSource,
): KnownValue | null {
  const { customer, order, effect } = context;
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
      return metadataOperand(context.metadata, property ?? "");
    case "order.amount":
      return countValue(totalAmount(context.state));
    case "order.initial_amount":
      return countValue(context.start.initialAmount);
    case "order.total_amount":
      return effect && countValue(totalAmount(effect.state));
    case "order.items.count":
      return countValue(sumOf(context.start.lines, ({ quantity }) => quantity));
    case "redemption.api_key":
      return idsOperand([context.caller.channelId]);
    case "redemption.user.login":
      return context.caller.userId === null ? null : idsOperand([context.caller.userId]);
    case "publication.redeemable_by_linked_customer":
      return isHeldByCustomer(context);
    case "redemption.reward.pay_with_points.points_used":
      return effect === null || effect.points === null ? null : countValue(effect.points);
    default:
      return readCount(name, context);
  }
}

function isHeldByCustomer({ subject, customer }: OperandSource): KnownValue | null {
  if (subject.kind !== "voucher") return null;
  const { holderId } = subject.snapshot;
  return booleanValue(holderId !== null && holderId === (customer?.id ?? null));
}

/** The count including this redemption; null for a rule that counts nothing. */
function readCount(name: RuleName, context: OperandSource): KnownValue | null {
  const count = ruleCount(name, context.subject, context);
  if (count === null) return null;
  const added =
    context.effect === null ? ONE_REDEMPTION : countIncrement(context.effect.usage, count);
  return countValue((context.counts.get(countKey(count)) ?? 0n) + added);
}

/** Sums are read only after the effect; redemptions always add one. */
const ONE_REDEMPTION = 1n;
