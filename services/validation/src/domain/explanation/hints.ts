import { type ValidationRule, formatInstant, nextOpening, failingRules } from "@scrip/rules";

import type { Hint } from "../decision/hint.ts";
import { availablePoints } from "../pricing/points-payment.ts";
import type { EvaluationLog } from "./evaluation-log.ts";
import { ruleHints } from "./rule-hints.ts";

/** The changes that would make a rejected redeemable apply. docs/qualification.md#hints */
export function hintsFor(log: EvaluationLog): readonly Hint[] {
  const { failedPrecondition, outcomes, bundles, applied } = log;
  if (failedPrecondition !== null) return preconditionHints(log, failedPrecondition);
  const violated = outcomes.filter(({ status }) => status === "violated");
  if (violated.length > 0) return violated.flatMap(({ rule }) => violationHints(rule, log));
  if (bundles !== null && bundles.failed.length > 0) return bundleHints(bundles);
  return applied?.kind === "rejected" ? balanceHints(log, applied.rejection.key) : [];
}

/** The evaluation stops at the first violation; hints need every failing condition of the rule. */
function violationHints(
  rule: ValidationRule,
  { ruleReader: reader, applied, input }: EvaluationLog,
): readonly Hint[] {
  if (reader === null) return [];
  const phase = applied === null ? "before_effect" : "after_effect";
  return ruleHints(rule, failingRules(rule, reader, phase, input.ignored?.rules), input);
}

const EMPTY_HINT = {
  property: null,
  validationRuleId: null,
  difference: null,
  from: null,
  anyOf: [],
} as const;

function preconditionHints(
  { input }: EvaluationLog,
  { precondition, rejection }: NonNullable<EvaluationLog["failedPrecondition"]>,
): readonly Hint[] {
  if (precondition.kind === "dates") {
    const from = nextValidTime(input);
    if (from === null) return [];
    return [{ ...EMPTY_HINT, name: "dates", from, message: `from ${formatInstant(from)}` }];
  }
  return rejection.key === "invalid_customer"
    ? [{ ...EMPTY_HINT, name: "customer", message: "with a customer" }]
    : [];
}

/** A tier is not valid after its campaign expires. */
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

function balanceHints({ redeemable, input }: EvaluationLog, key: string): readonly Hint[] {
  const { subject } = input;
  if (key === "loyalty_card_points_exceeded") return pointsHints({ redeemable, input });
  if (key !== "gift_amount_exceeded" || redeemable.object !== "voucher") return [];
  if (subject.kind !== "voucher" || subject.snapshot.value.type !== "GIFT_VOUCHER") return [];
  const { balance, lockedCredits } = subject.snapshot.value;
  const available = balance > lockedCredits ? balance - lockedCredits : 0n;
  const tooMany = (redeemable.credits ?? 0n) - available;
  return [{ ...EMPTY_HINT, name: "balance", difference: -tooMany, message: `${tooMany} less` }];
}

/** Too many requested points, or too few points for a reward's price. */
function pointsHints({
  redeemable,
  input: { subject },
}: Pick<EvaluationLog, "redeemable" | "input">): readonly Hint[] {
  if (redeemable.object !== "voucher" || subject.kind !== "voucher") return [];
  const { value } = subject.snapshot;
  if (value.type !== "LOYALTY_CARD") return [];
  const { reward } = redeemable;
  const price = reward?.assignment?.price ?? reward?.assignment?.coin?.pointsRatio ?? 0n;
  const available = availablePoints(value);
  const requested = reward?.points ?? null;
  const canReducePoints = requested !== null && reward?.assignment?.type === "COIN";
  const difference = canReducePoints ? available - requested : price - available;
  const message = canReducePoints ? `${-difference} less` : `${difference} more`;
  return [{ ...EMPTY_HINT, name: "balance", difference, message }];
}
