import { type Metadata, type Validity, formatInstant } from "@scrip/rules";

import type { MatchedScope } from "../applicable-items/matched-scope.ts";
import type { Explanation, ExplanationStep } from "../decision/explanation-steps.ts";
import { PRECONDITIONS, type Precondition } from "../eligibility/preconditions.ts";
import type { ValueOutcome } from "../pricing/apply-value.ts";
import type { EvaluationLog } from "./evaluation-log.ts";
import { formulaSteps } from "./formula-steps.ts";
import { ruleSteps } from "./rule-steps.ts";

/** All steps of an evaluation, in order. docs/qualification.md#explanations */
export function explain(log: EvaluationLog): Explanation {
  const { applied, outcomes, input } = log;
  return {
    steps: [
      ...preconditionSteps(log),
      ...ruleSteps(outcomes, input),
      ...bundleSteps(log),
      ...(applied === null ? [] : valueSteps(log, applied)),
    ],
    allocations: applied?.kind === "applied" ? applied.allocations : [],
  };
}

/** Up to the one that is failedPrecondition. */
function preconditionSteps(log: EvaluationLog): readonly ExplanationStep[] {
  const { failedPrecondition } = log;
  const last =
    failedPrecondition === null
      ? PRECONDITIONS.length
      : PRECONDITIONS.indexOf(failedPrecondition.precondition) + 1;
  return PRECONDITIONS.slice(0, last).flatMap((precondition) =>
    preconditionStep(precondition, log),
  );
}

function preconditionStep(
  precondition: Precondition,
  { failedPrecondition, input }: EvaluationLog,
): readonly ExplanationStep[] {
  const { kind } = precondition;
  const { subject } = input;
  const passed = failedPrecondition?.precondition !== precondition;
  const step = (
    message: string,
    more: Partial<ExplanationStep> = {},
  ): readonly ExplanationStep[] => [{ kind, passed, message, ...more }];
  switch (kind) {
    case "active":
      return step(passed ? "is active" : "is not active, or its campaign is not");
    case "dates": {
      const now = formatInstant(input.time.now);
      const message = passed
        ? `is valid at ${now}`
        : `is not valid at ${now}: ${failedPrecondition?.rejection.key}`;
      return step(message, timeOperands(input));
    }
    case "quantity":
      return subject.kind === "voucher" ? [{ ...quantityStep(subject.snapshot), passed }] : [];
    default:
      return subject.kind === "voucher" && subject.snapshot.isReferralCode
        ? step(
            passed
              ? "is used by a customer other than its holder"
              : `rejected: ${failedPrecondition?.rejection.key}`,
          )
        : [];
  }
}

/** The time limits of the redeemable and of its campaign. */
function timeOperands({
  subject,
  time,
}: EvaluationLog["input"]): Pick<ExplanationStep, "operands"> {
  const { validity, campaign } = subject.snapshot;
  const limits = {
    ...limitsOf(validity),
    ...(campaign !== null && prefixed("campaign_", limitsOf(campaign.validity))),
  };
  return Object.keys(limits).length === 0
    ? {}
    : { operands: { ...limits, time_zone: time.timeZone } };
}

const limitsOf = ({
  startDate,
  expirationDate,
  timeframe,
  daysOfWeek,
  hours,
}: Validity): Metadata => ({
  ...(startDate !== null && { start_date: formatInstant(startDate) }),
  ...(expirationDate !== null && { expiration_date: formatInstant(expirationDate) }),
  ...(timeframe !== null && { validity_timeframe: { ...timeframe } }),
  ...(daysOfWeek !== null && { validity_day_of_week: daysOfWeek }),
  ...(hours !== null && {
    validity_hours: hours.daily.map(({ startTime, expirationTime, daysOfWeek: days }) => ({
      start_time: startTime,
      expiration_time: expirationTime,
      days_of_week: days,
    })),
  }),
});

const prefixed = (prefix: string, metadata: Metadata): Metadata =>
  Object.fromEntries(Object.entries(metadata).map(([name, value]) => [prefix + name, value]));

function quantityStep({
  quantity,
  redeemedQuantity,
  lockedQuantity,
}: {
  readonly quantity: bigint | null;
  readonly redeemedQuantity: bigint;
  readonly lockedQuantity: bigint;
}): Omit<ExplanationStep, "passed"> {
  const used = redeemedQuantity + lockedQuantity;
  const locked = lockedQuantity === 0n ? "" : `, ${lockedQuantity} locked by sessions`;
  return quantity === null
    ? { kind: "quantity", message: `redeemed ${redeemedQuantity} times, without a limit`, used }
    : {
        kind: "quantity",
        message: `redeemed ${redeemedQuantity} of ${quantity} times${locked}`,
        used,
        limit: quantity,
      };
}

function bundleSteps({ bundles }: EvaluationLog): readonly ExplanationStep[] {
  if (bundles === null || bundles.result === null) return [];
  const { quantity, limit } = bundles.result;
  return [
    {
      kind: "bundle",
      passed: quantity > 0n,
      message: `the order contains ${quantity} of at most ${limit} bundles`,
      used: quantity,
      limit,
    },
  ];
}

function valueSteps(log: EvaluationLog, applied: ValueOutcome): readonly ExplanationStep[] {
  if (applied.kind === "rejected") {
    const { key, details } = applied.rejection;
    const message = `rejected: ${key}, ${details ?? ""}`;
    const failed = { passed: false, message };
    return key === "gift_amount_exceeded"
      ? [{ kind: "balance", ...failed, ...requestedCredits(log) }]
      : [{ kind: "effect", ...failed }];
  }
  return [
    ...balanceSteps(applied),
    ...scopeSteps(applied.scope),
    ...budgetSteps(applied),
    ...formulaSteps(log, applied),
    effectStep(log, applied),
  ];
}

/** The requested and the available credits. */
function requestedCredits({ redeemable, input }: EvaluationLog): Partial<ExplanationStep> {
  if (redeemable.object !== "voucher" || input.subject.kind !== "voucher") return {};
  const { value } = input.subject.snapshot;
  if (value.type !== "GIFT_VOUCHER" || redeemable.credits === null) return {};
  const { balance, lockedCredits } = value;
  return { value: Number(redeemable.credits), used: lockedCredits, limit: balance };
}

type Applied = ValueOutcome & { readonly kind: "applied" };

function balanceSteps({ benefit }: Applied): readonly ExplanationStep[] {
  if (benefit.kind === "loyalty") {
    const { balance, points, lockedPoints } = benefit;
    return [
      {
        kind: "balance",
        passed: true,
        message: `uses ${points} of ${balance} points, ${lockedPoints} of which are locked by sessions`,
        used: lockedPoints,
        limit: balance,
      },
    ];
  }
  if (benefit.kind !== "gift") return [];
  const { balance, credits, lockedCredits } = benefit;
  return [
    {
      kind: "balance",
      passed: true,
      message: `uses ${credits} of ${balance} credits, ${lockedCredits} of which are locked by sessions`,
      used: lockedCredits,
      limit: balance,
    },
  ];
}

function scopeSteps({ applicable, inapplicable }: MatchedScope): readonly ExplanationStep[] {
  if (applicable.length === 0 && inapplicable.length === 0) return [];
  const indices = [...new Set(applicable.flatMap(({ orderItemIndices }) => orderItemIndices))];
  const message =
    indices.length === 0
      ? "no line matches its applicable items"
      : `applies to lines ${indices.join(", ")}`;
  return [{ kind: "scope", passed: indices.length > 0 || applicable.length === 0, message }];
}

/** Unit budgets before this redemption. */
const budgetSteps = ({ budgets }: Applied): readonly ExplanationStep[] =>
  budgets.map(({ productId, used, limit }) => ({
    kind: "limit",
    passed: used < limit,
    message: `${used} of ${limit} units of ${productId} were discounted before`,
    used,
    limit,
  }));

function effectStep(
  { input }: EvaluationLog,
  { benefit, hasEffect, state }: Applied,
): ExplanationStep {
  const before = input.state.discountAmount + input.state.itemsDiscountAmount;
  const discounted = state.discountAmount + state.itemsDiscountAmount - before;
  const effect = benefit.effect === null ? "" : `${benefit.effect} `;
  return {
    kind: "effect",
    passed: hasEffect,
    message: hasEffect ? `${effect}discounts ${discounted}` : "changes nothing",
  };
}
