import { type Metadata, type Validity, formatInstant } from "@scrip/rules";

import type { ReachedScope } from "../decision/decision.ts";
import type { Trace, TraceStep } from "../decision/explanation-steps.ts";
import { GATES, type Gate } from "../eligibility/preconditions.ts";
import type { ValueOutcome } from "../pricing/apply-value.ts";
import type { Course } from "./evaluation-log.ts";
import { formulaSteps } from "./formula-steps.ts";
import { ruleSteps } from "./rule-steps.ts";

/** Every step that was taken, in the order of evaluation (spec/validation-and-redemption.md §0.2). */
export function traceOf(course: Course): Trace {
  const { applied, outcomes, facts } = course;
  return {
    steps: [
      ...gateSteps(course),
      ...ruleSteps(outcomes, facts),
      ...bundleSteps(course),
      ...(applied === null ? [] : valueSteps(course, applied)),
    ],
    allocations: applied?.kind === "applied" ? applied.allocations : [],
  };
}

/** Up to the one that is closed. */
function gateSteps(course: Course): readonly TraceStep[] {
  const { closed } = course;
  const last = closed === null ? GATES.length : GATES.indexOf(closed.gate) + 1;
  return GATES.slice(0, last).flatMap((gate) => gateStep(gate, course));
}

function gateStep(gate: Gate, { closed, facts }: Course): readonly TraceStep[] {
  const { kind } = gate;
  const { subject } = facts;
  const passed = closed?.gate !== gate;
  const told = (message: string, more: Partial<TraceStep> = {}): readonly TraceStep[] => [
    { kind, passed, message, ...more },
  ];
  switch (kind) {
    case "active":
      return told(passed ? "is switched on" : "is switched off, or its campaign is");
    case "dates": {
      const now = formatInstant(facts.moment.now);
      const message = passed
        ? `is open at ${now}`
        : `is not open at ${now}: ${closed?.refusal.key}`;
      return told(message, timeOperands(facts));
    }
    case "quantity":
      return subject.kind === "voucher" ? [{ ...quantityStep(subject.facts), passed }] : [];
    default:
      return subject.kind === "voucher" && subject.facts.isReferralCode
        ? told(passed ? "is used by a friend of its holder" : `refused: ${closed?.refusal.key}`)
        : [];
  }
}

/** The time limits that were set, of the redeemable and of its campaign. */
function timeOperands({ subject, moment }: Course["facts"]): Pick<TraceStep, "operands"> {
  const { validity, campaign } = subject.facts;
  const limits = {
    ...limitsOf(validity),
    ...(campaign !== null && prefixed("campaign_", limitsOf(campaign.validity))),
  };
  return Object.keys(limits).length === 0
    ? {}
    : { operands: { ...limits, time_zone: moment.timeZone } };
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
}): Omit<TraceStep, "passed"> {
  const used = redeemedQuantity + lockedQuantity;
  const held = lockedQuantity === 0n ? "" : `, ${lockedQuantity} held by sessions`;
  return quantity === null
    ? { kind: "quantity", message: `redeemed ${redeemedQuantity} times, without a limit`, used }
    : {
        kind: "quantity",
        message: `redeemed ${redeemedQuantity} of ${quantity} times${held}`,
        used,
        limit: quantity,
      };
}

function bundleSteps({ bundles }: Course): readonly TraceStep[] {
  if (bundles === null || bundles.result === null) return [];
  const { quantity, limit } = bundles.result;
  return [
    {
      kind: "bundle",
      passed: quantity > 0n,
      message: `the order holds ${quantity} of at most ${limit} bundles`,
      used: quantity,
      limit,
    },
  ];
}

function valueSteps(course: Course, applied: ValueOutcome): readonly TraceStep[] {
  if (applied.kind === "refused") {
    const { key, details } = applied.refusal;
    const message = `refused: ${key}, ${details ?? ""}`;
    const refused = { passed: false, message };
    return key === "gift_amount_exceeded"
      ? [{ kind: "balance", ...refused, ...creditsAsked(course) }]
      : [{ kind: "effect", ...refused }];
  }
  return [
    ...balanceSteps(applied),
    ...scopeSteps(applied.scope),
    ...limitSteps(applied),
    ...formulaSteps(course, applied),
    effectStep(course, applied),
  ];
}

/** How many credits were asked for, and how many there are. */
function creditsAsked({ redeemable, facts }: Course): Partial<TraceStep> {
  if (redeemable.object !== "voucher" || facts.subject.kind !== "voucher") return {};
  const { value } = facts.subject.facts;
  if (value.type !== "GIFT_VOUCHER" || redeemable.credits === null) return {};
  const { balance, lockedCredits } = value;
  return { value: Number(redeemable.credits), used: lockedCredits, limit: balance };
}

type Applied = ValueOutcome & { readonly kind: "applied" };

function balanceSteps({ benefit }: Applied): readonly TraceStep[] {
  if (benefit.kind === "loyalty") {
    const { balance, points, lockedPoints } = benefit;
    return [
      {
        kind: "balance",
        passed: true,
        message: `takes ${points} of ${balance} points, of which sessions hold ${lockedPoints}`,
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
      message: `takes ${credits} of ${balance} credits, of which sessions hold ${lockedCredits}`,
      used: lockedCredits,
      limit: balance,
    },
  ];
}

function scopeSteps({ applicable, inapplicable }: ReachedScope): readonly TraceStep[] {
  if (applicable.length === 0 && inapplicable.length === 0) return [];
  const indices = [...new Set(applicable.flatMap(({ orderItemIndices }) => orderItemIndices))];
  const message =
    indices.length === 0 ? "reaches no line by its entries" : `reaches lines ${indices.join(", ")}`;
  return [{ kind: "scope", passed: indices.length > 0 || applicable.length === 0, message }];
}

/** Budgets of units, as they were before this use. */
const limitSteps = ({ budgets }: Applied): readonly TraceStep[] =>
  budgets.map(({ productId, used, limit }) => ({
    kind: "limit",
    passed: used < limit,
    message: `${used} of ${limit} units of ${productId} were discounted before`,
    used,
    limit,
  }));

function effectStep({ facts }: Course, { benefit, hasEffect, state }: Applied): TraceStep {
  const before = facts.state.discountAmount + facts.state.itemsDiscountAmount;
  const taken = state.discountAmount + state.itemsDiscountAmount - before;
  const effect = benefit.effect === null ? "" : `${benefit.effect} `;
  return {
    kind: "effect",
    passed: hasEffect,
    message: hasEffect ? `${effect}takes ${taken} off` : "changes nothing",
  };
}
