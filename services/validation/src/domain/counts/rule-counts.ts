import type { TimeContext, Rule, RuleName } from "@scrip/rules";
import { startOfPeriod } from "@scrip/rules";

import type {
  CallerFacts,
  CatalogueItem,
  CustomerFacts,
  OrderFacts,
  Redeemable,
} from "../input/facts.ts";
import { type Subject, campaignOf, rulesOf, subjectOf } from "../input/subject.ts";
import {
  type CountMeasure,
  type CountName,
  type CountScope,
  UNSTORED_CUSTOMER,
  countedCustomer,
} from "./counts.ts";
import { neededUnitCounts } from "./unit-budgets.ts";

/** Who redeems, and when: what decides which redemptions a rule counts. */
export type CountContext = {
  readonly customer: CustomerFacts | null;
  readonly moment: TimeContext;
  readonly caller: CallerFacts;
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

/** What the rules count that limit how often something is redeemed. */
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

/** Days, weeks and months of counts, for hints about when a count begins again. */
export const periodOf = (name: RuleName): "day" | "week" | "month" | null =>
  COUNT_RULES[name]?.period ?? null;

export const isCount = (name: RuleName): boolean => COUNT_RULES[name] !== undefined;

/** The number that a rule is about; null when there is nothing to count, or nobody to count for. */
export function countOfRule(
  name: RuleName,
  subject: Subject,
  context: CountContext,
): CountName | null {
  const rule = COUNT_RULES[name];
  const scope = rule && scopeOf(rule, subject);
  if (rule === undefined || !scope) return null;
  const customerId = rule.by === "customer" ? countedCustomer(context.customer) : null;
  const channelId = channelOf(rule, context.caller);
  if (rule.by !== undefined && customerId === null && channelId === null) return null;
  return {
    scope,
    measure: rule.measure,
    customerId,
    channelId,
    since: rule.period === undefined ? null : startOfPeriod(rule.period, context.moment),
    productId: null,
  };
}

function channelOf({ by }: CountRule, { channelId, userId }: CallerFacts): string | null {
  if (by === "channel") return channelId;
  return by === "user" ? userId : null;
}

/** A card of no campaign counts its credits for itself. */
function scopeOf(rule: CountRule, subject: Subject): CountScope | null {
  if (rule.of === "campaign") {
    const parent = campaignOf(subject);
    if (parent !== null) return { kind: "campaign", id: parent.id };
    if (rule.measure !== "GIFT_CREDITS") return null;
  }
  return { kind: subject.kind, id: subject.facts.id };
}

export type CountedContext = CountContext & {
  readonly order: OrderFacts | null;
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
};

/** All counts that deciding on the redeemables may read. */
export const countsRead = (
  redeemables: readonly Redeemable[],
  context: CountedContext,
): readonly CountName[] =>
  redeemables.flatMap((one) => {
    const subject = subjectOf(one);
    if (subject === null) return [];
    const lines = context.order?.lines ?? [];
    return [
      ...rulesOf(subject).flatMap(({ rules }) =>
        [...rules.values()].flatMap((rule: Rule) => countOfRule(rule.name, subject, context) ?? []),
      ),
      ...neededUnitCounts(subject, { ...context, lines }),
    ];
  });

/** Of these what was redeemed before has to be looked up; who is not stored has redeemed nothing. */
export const neededCounts = (
  redeemables: readonly Redeemable[],
  context: CountedContext,
): readonly CountName[] =>
  countsRead(redeemables, context).filter(({ customerId }) => customerId !== UNSTORED_CUSTOMER);
