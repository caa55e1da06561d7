import { type ValidationRule, formatInstant, nextOpening, failingRules } from "@scrip/rules";

import type { Hint } from "../decision/hint.ts";
import { availablePoints } from "../pricing/points-payment.ts";
import type { EvaluationLog } from "./evaluation-log.ts";
import { ruleHints } from "./rule-hints.ts";

/** What would have to change for a redeemable that was refused; spec issue "What is missing". */
export function hintsFor(course: EvaluationLog): readonly Hint[] {
  const { failedPrecondition, outcomes, bundles, applied } = course;
  if (failedPrecondition !== null) return preconditionHints(course, failedPrecondition);
  const violated = outcomes.filter(({ status }) => status === "violated");
  if (violated.length > 0) return violated.flatMap(({ rule }) => violationHints(rule, course));
  if (bundles !== null && bundles.failed.length > 0) return bundleHints(bundles);
  return applied?.kind === "rejected" ? balanceHints(course, applied.rejection.key) : [];
}

/** The check stops where it knows enough; a rule holds when nothing in it is left to change. */
function violationHints(
  rule: ValidationRule,
  { ruleReader: reader, applied, input: facts }: EvaluationLog,
): readonly Hint[] {
  if (reader === null) return [];
  const phase = applied === null ? "before_effect" : "after_effect";
  return ruleHints(rule, failingRules(rule, reader, phase, facts.ignored?.rules), facts);
}

const EMPTY_HINT = {
  property: null,
  validationRuleId: null,
  difference: null,
  from: null,
  anyOf: [],
} as const;

function preconditionHints(
  { input: facts }: EvaluationLog,
  { precondition, rejection }: NonNullable<EvaluationLog["failedPrecondition"]>,
): readonly Hint[] {
  if (precondition.kind === "dates") {
    const from = nextValidTime(facts);
    if (from === null) return [];
    return [{ ...EMPTY_HINT, name: "dates", from, message: `from ${formatInstant(from)}` }];
  }
  return rejection.key === "invalid_customer"
    ? [{ ...EMPTY_HINT, name: "customer", message: "with a customer" }]
    : [];
}

/** A tier ends with its campaign. */
function nextValidTime({ subject, time }: EvaluationLog["input"]): number | null {
  const { validity, campaign } = subject.snapshot;
  const from = nextOpening(validity, campaign?.validity ?? null, time);
  const end = campaign?.validity.expirationDate ?? null;
  const isOver = from !== null && end !== null && from > end;
  return subject.kind === "promotion_tier" && isOver ? null : from;
}

function bundleHints({ result, failed }: NonNullable<EvaluationLog["bundles"]>): readonly Hint[] {
  const [rule] = failed;
  return (result?.missing ?? []).map(({ id, itemQuantity }) => ({
    ...EMPTY_HINT,
    name: "bundle",
    validationRuleId: rule?.id ?? null,
    difference: itemQuantity,
    anyOf: [id],
    message: `${itemQuantity} more of ${id}`,
  }));
}

function balanceHints({ redeemable, input: facts }: EvaluationLog, key: string): readonly Hint[] {
  const { subject } = facts;
  if (key === "loyalty_card_points_exceeded") return pointsHints({ redeemable, input: facts });
  if (key !== "gift_amount_exceeded" || redeemable.object !== "voucher") return [];
  if (subject.kind !== "voucher" || subject.snapshot.value.type !== "GIFT_VOUCHER") return [];
  const { balance, lockedCredits } = subject.snapshot.value;
  const free = balance > lockedCredits ? balance - lockedCredits : 0n;
  const tooMany = (redeemable.credits ?? 0n) - free;
  return [{ ...EMPTY_HINT, name: "balance", difference: -tooMany, message: `${tooMany} less` }];
}

/** Points that were named and are not there; or the price of something, and how far it is off. */
function pointsHints({
  redeemable,
  input: { subject },
}: Pick<EvaluationLog, "redeemable" | "input">): readonly Hint[] {
  if (redeemable.object !== "voucher" || subject.kind !== "voucher") return [];
  const { value } = subject.snapshot;
  if (value.type !== "LOYALTY_CARD") return [];
  const { reward } = redeemable;
  const price = reward?.assignment?.price ?? reward?.assignment?.coin?.pointsRatio ?? 0n;
  const free = availablePoints(value);
  const asked = reward?.points ?? null;
  const canAskLess = asked !== null && reward?.assignment?.type === "COIN";
  const difference = canAskLess ? free - asked : price - free;
  const message = canAskLess ? `${-difference} less` : `${difference} more`;
  return [{ ...EMPTY_HINT, name: "balance", difference, message }];
}
