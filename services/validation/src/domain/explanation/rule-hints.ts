import {
  type FailingRule,
  type KnownValue,
  type TimeContext,
  type ValidationRule,
  expectedDates,
  firstMatchingDay,
  formatInstant,
  meetsConditions,
  smallestDifference,
  startOfNextPeriod,
  expectedMembers,
  countKey,
} from "@scrip/rules";

import { ruleCount, countPeriod } from "../counts/rule-counts.ts";
import type { Hint } from "../decision/hint.ts";
import type { RuleContext } from "../eligibility/rule-operands.ts";

/**
 * The smallest change for each failed rule that a change of the request can satisfy.
 * docs/qualification.md#hints
 */
export const ruleHints = (
  rule: ValidationRule,
  failing: readonly FailingRule[],
  context: RuleContext,
): readonly Hint[] =>
  failing.flatMap((one): Hint[] => {
    const change = changeOf(one, context);
    if (change === null) return [];
    const { name, property } = one.rule;
    return [{ ...NO_CHANGE, name, property, validationRuleId: rule.id, ...change }];
  });

type Change = Pick<Hint, "message"> & Partial<Pick<Hint, "difference" | "from" | "anyOf">>;

const NO_CHANGE = { difference: null, from: null, anyOf: [] } as const;

function changeOf(failing: FailingRule, context: RuleContext): Change | null {
  const { rule, lacks } = failing;
  if (lacks === "customer") return { message: "with a customer" };
  if (lacks === "order") return differenceIn(amountValue(0n), failing);
  const failingChild = failing.children.find(({ passed }) => passed === false);
  if (failingChild !== undefined) return quantityChange(failingChild);
  switch (rule.name) {
    case "order.amount":
    case "order.initial_amount":
    case "order.total_amount":
    case "order.items.count":
    case "campaign.orders.amount":
    case "campaign.orders.amount_discounted":
    case "redemption.gift.amount":
    case "redemption.reward.pay_with_points.points_used":
    case "customer.metadata":
    case "order.metadata":
    case "redemption.metadata":
      return (
        differenceIn(failing.value, failing) ?? dateIn(failing, context.time) ?? memberIn(failing)
      );
    case "order.items.price_any":
      return leastChange(failing);
    case "customer.segment":
    case "customer.loyalty.tier":
    case "redemption.api_key":
    case "redemption.user.login":
    case "order.items.any":
    case "product.id":
    case "sku.id":
      return memberIn(failing);
    default:
      return countChange(failing, context);
  }
}

const amountValue = (value: bigint): KnownValue => ({
  kind: "number",
  value: { unscaled: value, scale: 0 },
});

/** The missing quantity of one line, or of all matching lines together. */
function quantityChange(child: FailingRule): Change | null {
  const { name } = child.rule;
  if (name.endsWith(".aggregated_quantity") || name.endsWith(".aggregated_amount")) {
    return differenceIn(child.value, child);
  }
  return name.endsWith(".quantity") ? leastChange(child) : null;
}

/** The value that needs the smallest change. */
function leastChange(failing: FailingRule): Change | null {
  if (failing.value?.kind !== "list") return null;
  const changes = failing.value.values.flatMap((value) => differenceIn(value, failing) ?? []);
  return (
    changes.toSorted((a, b) => Number(absoluteDifference(a) - absoluteDifference(b))).at(0) ?? null
  );
}

const absoluteDifference = ({ difference }: Change): bigint => {
  const size = difference ?? 0n;
  return size < 0n ? -size : size;
};

function differenceIn(value: KnownValue | null, { rule }: FailingRule): Change | null {
  if (value?.kind !== "number" || value.value.scale !== 0) return null;
  const difference = smallestDifference(value.value.unscaled, rule.conditions);
  if (difference === null || difference === 0n) return null;
  const message = difference > 0n ? `${difference} more` : `${-difference} less`;
  return { difference, message };
}

/** The first day that satisfies the condition, or the dates that would. */
function dateIn({ rule, value }: FailingRule, time: TimeContext): Change | null {
  const from = firstMatchingDay(value, rule.conditions, time);
  if (from !== null) return { from, message: `from ${formatInstant(from)}` };
  const wanted = expectedDates(value, rule.conditions, time);
  return wanted.length === 0 ? null : { message: wanted.join(" and ") };
}

/** The members of which one is required. */
function memberIn({ rule }: FailingRule): Change | null {
  const anyOf = expectedMembers(rule.conditions);
  if (anyOf.length === 0) return null;
  const [shown, rest] = [anyOf.slice(0, MAX_LISTED_MEMBERS), anyOf.length - MAX_LISTED_MEMBERS];
  const message = `one of: ${shown.join(", ")}${rest > 0 ? ` and ${rest} others` : ""}`;
  return { anyOf, message };
}

/** The maximum number of members in the message; the list contains all. */
const MAX_LISTED_MEMBERS = 5;

/** Counts cannot be lowered by a request, but those of a period restart with the next one. */
function countChange({ rule }: FailingRule, context: RuleContext): Change | null {
  const count = ruleCount(rule.name, context.subject, context);
  if (count === null) return null;
  const value = (context.counts.get(countKey(count)) ?? 0n) + 1n;
  const period = countPeriod(rule.name);
  if (period !== null && meetsConditions(1n, rule.definition)) {
    const from = startOfNextPeriod(period, context.time);
    return { from, message: `from ${formatInstant(from)}` };
  }
  const difference = smallestDifference(value, rule.conditions, (candidate) => candidate > value);
  return difference === null ? null : { difference, message: `${difference} more` };
}
