import type { DecisionRequest } from "../decide.ts";
import type { TraceKind } from "../decision/explanation-steps.ts";
import type { TierFacts, VoucherFacts } from "../input/facts.ts";
import type { Subject } from "../input/subject.ts";
import { type Refused, refusedForCode } from "../rejections/rejection.ts";
import { checkTierTime, checkVoucherTime } from "./time-limits.ts";

export type GateContext = Pick<DecisionRequest, "moment" | "customer">;

/** What must be open before the order is looked at. */
export type Gate = {
  readonly kind: TraceKind;
  readonly check: (subject: Subject, context: GateContext) => Refused | null;
};

/** In the order in which they are checked, which is public: the first that is closed is told. */
export const GATES: readonly Gate[] = [
  {
    kind: "active",
    check: ({ kind, facts }) =>
      kind === "voucher" ? checkVoucherActive(facts) : checkTierActive(facts),
  },
  {
    kind: "dates",
    check: ({ kind, facts }, { moment }) =>
      kind === "voucher" ? checkVoucherTime(facts, moment) : checkTierTime(facts, moment),
  },
  {
    kind: "quantity",
    check: ({ kind, facts }) => (kind === "voucher" ? checkQuantity(facts) : null),
  },
  {
    kind: "rule",
    check: ({ kind, facts }, context) =>
      kind === "voucher" && facts.isReferralCode ? checkReferral(facts, context) : null,
  },
];

/** The first gate that is closed. */
export function closedGate(
  subject: Subject,
  context: GateContext,
): { readonly gate: Gate; readonly refusal: Refused } | null {
  for (const gate of GATES) {
    const refusal = gate.check(subject, context);
    if (refusal !== null) return { gate, refusal };
  }
  return null;
}

function checkVoucherActive(voucher: VoucherFacts): Refused | null {
  const isSwitchedOff = voucher.active === false || voucher.campaign?.active === false;
  return isSwitchedOff ? refusedForCode("voucher_disabled", voucher.code) : null;
}

function checkTierActive({ id, active, campaign }: TierFacts): Refused | null {
  if (active !== false && campaign?.active !== false) return null;
  return { key: "promotion_inactive", details: `Promotion Tier with id: ${id} is disabled.` };
}

function checkQuantity(voucher: VoucherFacts): Refused | null {
  const { quantity, redeemedQuantity, lockedQuantity } = voucher;
  const isUsedUp = quantity !== null && redeemedQuantity + lockedQuantity >= quantity;
  return isUsedUp ? refusedForCode("quantity_exceeded", voucher.code) : null;
}

/** A friend must be known to be one; spec/campaigns-loyalty-platform.md §10. */
function checkReferral({ code, holderId }: VoucherFacts, { customer }: GateContext) {
  if (holderId === null) return refusedForCode("not_published", code);
  if (customer === null) return refusedForCode("invalid_customer", code);
  return customer.id === holderId ? refusedForCode("referrer_not_permitted_to_redeem", code) : null;
}
