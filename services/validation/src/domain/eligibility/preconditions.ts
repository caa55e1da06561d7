import type { DecisionRequest } from "../decide.ts";
import type { ExplanationStepKind } from "../decision/explanation-steps.ts";
import type { TierSnapshot, VoucherSnapshot } from "../input/facts.ts";
import type { Subject } from "../input/subject.ts";
import { type Rejection, rejectionForCode } from "../rejections/rejection.ts";
import { checkTierTime, checkVoucherTime } from "./time-limits.ts";

export type PreconditionContext = Pick<DecisionRequest, "moment" | "customer">;

/** What must be open before the order is looked at. */
export type Precondition = {
  readonly kind: ExplanationStepKind;
  readonly check: (subject: Subject, context: PreconditionContext) => Rejection | null;
};

/** In the order in which they are checked, which is public: the first that is closed is told. */
export const PRECONDITIONS: readonly Precondition[] = [
  {
    kind: "active",
    check: ({ kind, snapshot: facts }) =>
      kind === "voucher" ? checkVoucherActive(facts) : checkTierActive(facts),
  },
  {
    kind: "dates",
    check: ({ kind, snapshot: facts }, { moment }) =>
      kind === "voucher" ? checkVoucherTime(facts, moment) : checkTierTime(facts, moment),
  },
  {
    kind: "quantity",
    check: ({ kind, snapshot: facts }) => (kind === "voucher" ? checkQuantity(facts) : null),
  },
  {
    kind: "rule",
    check: ({ kind, snapshot: facts }, context) =>
      kind === "voucher" && facts.isReferralCode ? checkReferral(facts, context) : null,
  },
];

/** The first gate that is closed. */
export function findFailedPrecondition(
  subject: Subject,
  context: PreconditionContext,
): { readonly precondition: Precondition; readonly rejection: Rejection } | null {
  for (const precondition of PRECONDITIONS) {
    const rejection = precondition.check(subject, context);
    if (rejection !== null) return { precondition, rejection };
  }
  return null;
}

function checkVoucherActive(voucher: VoucherSnapshot): Rejection | null {
  const isSwitchedOff = voucher.active === false || voucher.campaign?.active === false;
  return isSwitchedOff ? rejectionForCode("voucher_disabled", voucher.code) : null;
}

function checkTierActive({ id, active, campaign }: TierSnapshot): Rejection | null {
  if (active !== false && campaign?.active !== false) return null;
  return { key: "promotion_inactive", details: `Promotion Tier with id: ${id} is disabled.` };
}

function checkQuantity(voucher: VoucherSnapshot): Rejection | null {
  const { quantity, redeemedQuantity, lockedQuantity } = voucher;
  const isUsedUp = quantity !== null && redeemedQuantity + lockedQuantity >= quantity;
  return isUsedUp ? rejectionForCode("quantity_exceeded", voucher.code) : null;
}

/** A friend must be known to be one; spec/campaigns-loyalty-platform.md §10. */
function checkReferral({ code, holderId }: VoucherSnapshot, { customer }: PreconditionContext) {
  if (holderId === null) return rejectionForCode("not_published", code);
  if (customer === null) return rejectionForCode("invalid_customer", code);
  return customer.id === holderId
    ? rejectionForCode("referrer_not_permitted_to_redeem", code)
    : null;
}
