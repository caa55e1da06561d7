import { type ValidationRule, formatInstant, nextOpening, failingRules } from "@scrip/rules";

import type { Hint } from "../decision/hint.ts";
import { freePoints } from "../pricing/points-payment.ts";
import type { Course } from "./evaluation-log.ts";
import { ruleHints } from "./rule-hints.ts";

/** What would have to change for a redeemable that was refused; spec issue "What is missing". */
export function hintsOf(course: Course): readonly Hint[] {
  const { closed, outcomes, bundles, applied } = course;
  if (closed !== null) return gateHints(course, closed);
  const violated = outcomes.filter(({ status }) => status === "violated");
  if (violated.length > 0) return violated.flatMap(({ rule }) => violationHints(rule, course));
  if (bundles !== null && bundles.failed.length > 0) return bundleHints(bundles);
  return applied?.kind === "refused" ? balanceHints(course, applied.refusal.key) : [];
}

/** The check stops where it knows enough; a rule holds when nothing in it is left to change. */
function violationHints(rule: ValidationRule, { reader, applied, facts }: Course): readonly Hint[] {
  if (reader === null) return [];
  const phase = applied === null ? "before_effect" : "after_effect";
  return ruleHints(rule, failingRules(rule, reader, phase, facts.omits?.rules), facts);
}

const NOTHING_TOLD = {
  property: null,
  validationRuleId: null,
  difference: null,
  from: null,
  anyOf: [],
} as const;

function gateHints(
  { facts }: Course,
  { gate, refusal }: NonNullable<Course["closed"]>,
): readonly Hint[] {
  if (gate.kind === "dates") {
    const from = openingOf(facts);
    if (from === null) return [];
    return [{ ...NOTHING_TOLD, name: "dates", from, message: `from ${formatInstant(from)}` }];
  }
  return refusal.key === "invalid_customer"
    ? [{ ...NOTHING_TOLD, name: "customer", message: "with a customer" }]
    : [];
}

/** A tier ends with its campaign. */
function openingOf({ subject, moment }: Course["facts"]): number | null {
  const { validity, campaign } = subject.facts;
  const from = nextOpening(validity, campaign?.validity ?? null, moment);
  const end = campaign?.validity.expirationDate ?? null;
  const isOver = from !== null && end !== null && from > end;
  return subject.kind === "promotion_tier" && isOver ? null : from;
}

function bundleHints({ result, failed }: NonNullable<Course["bundles"]>): readonly Hint[] {
  const [rule] = failed;
  return (result?.missing ?? []).map(({ id, itemQuantity }) => ({
    ...NOTHING_TOLD,
    name: "bundle",
    validationRuleId: rule?.id ?? null,
    difference: itemQuantity,
    anyOf: [id],
    message: `${itemQuantity} more of ${id}`,
  }));
}

function balanceHints({ redeemable, facts }: Course, key: string): readonly Hint[] {
  const { subject } = facts;
  if (key === "loyalty_card_points_exceeded") return pointsHints({ redeemable, facts });
  if (key !== "gift_amount_exceeded" || redeemable.object !== "voucher") return [];
  if (subject.kind !== "voucher" || subject.facts.value.type !== "GIFT_VOUCHER") return [];
  const { balance, lockedCredits } = subject.facts.value;
  const free = balance > lockedCredits ? balance - lockedCredits : 0n;
  const tooMany = (redeemable.credits ?? 0n) - free;
  return [{ ...NOTHING_TOLD, name: "balance", difference: -tooMany, message: `${tooMany} less` }];
}

/** Points that were named and are not there; or the price of something, and how far it is off. */
function pointsHints({
  redeemable,
  facts: { subject },
}: Pick<Course, "redeemable" | "facts">): readonly Hint[] {
  if (redeemable.object !== "voucher" || subject.kind !== "voucher") return [];
  const { value } = subject.facts;
  if (value.type !== "LOYALTY_CARD") return [];
  const { reward } = redeemable;
  const price = reward?.assigned?.price ?? reward?.assigned?.coin?.pointsRatio ?? 0n;
  const free = freePoints(value);
  const asked = reward?.points ?? null;
  const canAskLess = asked !== null && reward?.assigned?.type === "COIN";
  const difference = canAskLess ? free - asked : price - free;
  const message = canAskLess ? `${-difference} less` : `${difference} more`;
  return [{ ...NOTHING_TOLD, name: "balance", difference, message }];
}
