import type { TimeContext, Rule, RuleName, CountMeasure, Count, CountScope } from "@scrip/rules";
import { startOfPeriod } from "@scrip/rules";

import type { CatalogueItem } from "../input/catalogue-item.ts";
import type { CallerIdentity, CustomerSnapshot } from "../input/customer.ts";
import type { OrderSnapshot } from "../input/order.ts";
import type { Redeemable } from "../input/redeemable.ts";
import { type Subject, campaignOf, rulesOf, subjectOf } from "../input/subject.ts";
import { UNSTORED_CUSTOMER, countCustomerId } from "./counts.ts";
import { requiredUnitCounts } from "./unit-budgets.ts";

/** The context that determines which redemptions a rule counts. */
export type CountContext = {
  readonly customer: CustomerSnapshot | null;
  readonly time: TimeContext;
  readonly caller: CallerIdentity;
};

type CountRule = {
  readonly of: "campaign" | "redeemable";
  readonly measure: CountMeasure;
  readonly by?: "customer" | "channel" | "user";
  readonly period?: "day" | "week" | "month";
};

const campaign = { of: "campaign", measure: "REDEMPTIONS" } as const;
const redeemable = { of: "redeemable", measure: "REDEMPTIONS" } as const;
const daily = { period: "day" } as const;
const weekly = { period: "week" } as const;
const monthly = { period: "month" } as const;
const byCustomer = { by: "customer" } as const;

/** The count of each rule that limits redemptions. docs/validation-rules.md#rule-names */
const COUNT_RULES: Readonly<Partial<Record<RuleName, CountRule>>> = {
  "campaign.redemptions.count": campaign,
  "campaign.redemptions.count.daily": { ...campaign, ...daily },
  "campaign.redemptions.count.weekly": { ...campaign, ...weekly },
  "campaign.redemptions.count.monthly": { ...campaign, ...monthly },
  "campaign.redemptions.customers_count": { ...campaign, ...byCustomer },
  "campaign.redemptions.customers_count.daily": { ...campaign, ...byCustomer, ...daily },
  "campaign.redemptions.customers_count.weekly": { ...campaign, ...byCustomer, ...weekly },
  "campaign.redemptions.customers_count.monthly": { ...campaign, ...byCustomer, ...monthly },
  "campaign.orders.amount": { of: "campaign", measure: "ORDERS_AMOUNT" },
  "campaign.orders.amount_discounted": { of: "campaign", measure: "DISCOUNTED_AMOUNT" },
  "redemption.count.daily": { ...redeemable, ...daily },
  "redemption.count.weekly": { ...redeemable, ...weekly },
  "redemption.count.monthly": { ...redeemable, ...monthly },
  "redemption.count.per_customer": { ...redeemable, ...byCustomer },
  "redemption.count.per_customer.daily": { ...redeemable, ...byCustomer, ...daily },
  "redemption.count.per_customer.weekly": { ...redeemable, ...byCustomer, ...weekly },
  "redemption.count.per_customer.monthly": { ...redeemable, ...byCustomer, ...monthly },
  "redemption.count.per_api_key": { ...redeemable, by: "channel" },
  "redemption.count.per_user": { ...redeemable, by: "user" },
  "redemption.gift.amount": { of: "campaign", measure: "GIFT_CREDITS" },
};

/** The period of a count, for hints about when it restarts. */
export const countPeriod = (name: RuleName): "day" | "week" | "month" | null =>
  COUNT_RULES[name]?.period ?? null;

export const isCountRule = (name: RuleName): boolean => COUNT_RULES[name] !== undefined;

/**
 * The count of a rule; null for other rules, or without a customer, application or campaign to
 * count for.
 */
export function ruleCount(name: RuleName, subject: Subject, context: CountContext): Count | null {
  const rule = COUNT_RULES[name];
  const scope = rule && ruleCountScope(rule, subject);
  if (rule === undefined || !scope) return null;
  const customerId = rule.by === "customer" ? countCustomerId(context.customer) : null;
  const channelId = ruleCountChannel(rule, context.caller);
  if (rule.by !== undefined && customerId === null && channelId === null) return null;
  return {
    scope,
    measure: rule.measure,
    customerId,
    channelId,
    since: rule.period === undefined ? null : startOfPeriod(rule.period, context.time),
    productId: null,
  };
}

function ruleCountChannel({ by }: CountRule, { channelId, userId }: CallerIdentity): string | null {
  if (by === "channel") return channelId;
  return by === "user" ? userId : null;
}

/** Gift cards without a campaign count their own credits. */
function ruleCountScope(rule: CountRule, subject: Subject): CountScope | null {
  if (rule.of === "campaign") {
    const parent = campaignOf(subject);
    if (parent !== null) return { kind: "campaign", id: parent.id };
    if (rule.measure !== "GIFT_CREDITS") return null;
  }
  return { kind: subject.kind, id: subject.snapshot.id };
}

export type CountsContext = CountContext & {
  readonly order: OrderSnapshot | null;
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
};

/** All counts that the decision can read. */
export const requiredCounts = (
  redeemables: readonly Redeemable[],
  context: CountsContext,
): readonly Count[] =>
  redeemables.flatMap((one) => {
    const subject = subjectOf(one);
    if (subject === null) return [];
    const lines = context.order?.lines ?? [];
    return [
      ...rulesOf(subject).flatMap(({ rules }) =>
        [...rules.values()].flatMap((rule: Rule) => ruleCount(rule.name, subject, context) ?? []),
      ),
      ...requiredUnitCounts(subject, { ...context, lines }),
    ];
  });

/** The counts that must be loaded; a customer who is not stored has no redemptions. */
export const countsToLoad = (
  redeemables: readonly Redeemable[],
  context: CountsContext,
): readonly Count[] =>
  requiredCounts(redeemables, context).filter(({ customerId }) => customerId !== UNSTORED_CUSTOMER);
