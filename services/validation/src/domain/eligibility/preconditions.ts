import type { DecisionRequest } from "../decision/decision-request.ts";
import type { ExplanationStepKind } from "../decision/explanation-steps.ts";
import type { Subject } from "../input/subject.ts";
import type { TierSnapshot, VoucherSnapshot } from "../input/voucher.ts";
import { type Rejection, rejectionForCode } from "../rejections/rejection.ts";
import { checkTierTime, checkVoucherTime } from "./time-limits.ts";

export type PreconditionContext = Pick<DecisionRequest, "time" | "customer">;

/** A check that does not depend on the order. */
export type Precondition = {
  readonly kind: ExplanationStepKind;
  readonly check: (subject: Subject, context: PreconditionContext) => Rejection | null;
};

/** The order of the checks is public: the first that fails determines the error. */
export const PRECONDITIONS: readonly Precondition[] = [
  {
    kind: "active",
    check: ({ kind, snapshot }) =>
      kind === "voucher" ? checkVoucherActive(snapshot) : checkTierActive(snapshot),
  },
  {
    kind: "dates",
    check: ({ kind, snapshot }, { time }) =>
      kind === "voucher" ? checkVoucherTime(snapshot, time) : checkTierTime(snapshot, time),
  },
  {
    kind: "quantity",
    check: ({ kind, snapshot }) => (kind === "voucher" ? checkQuantity(snapshot) : null),
  },
  {
    kind: "rule",
    check: ({ kind, snapshot }, context) =>
      kind === "voucher" && snapshot.isReferralCode ? checkReferral(snapshot, context) : null,
  },
];

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
  const isInactive = voucher.active === false || voucher.campaign?.active === false;
  return isInactive ? rejectionForCode("voucher_disabled", voucher.code) : null;
}

function checkTierActive({ id, active, campaign }: TierSnapshot): Rejection | null {
  if (active !== false && campaign?.active !== false) return null;
  return { key: "promotion_inactive", details: `Promotion Tier with id: ${id} is disabled.` };
}

function checkQuantity(voucher: VoucherSnapshot): Rejection | null {
  const { quantity, redeemedQuantity, lockedQuantity } = voucher;
  const isExhausted = quantity !== null && redeemedQuantity + lockedQuantity >= quantity;
  return isExhausted ? rejectionForCode("quantity_exceeded", voucher.code) : null;
}

/** A referral code requires a known customer who is not its holder. docs/campaigns.md#kinds */
function checkReferral({ code, holderId }: VoucherSnapshot, { customer }: PreconditionContext) {
  if (holderId === null) return rejectionForCode("not_published", code);
  if (customer === null) return rejectionForCode("invalid_customer", code);
  return customer.id === holderId
    ? rejectionForCode("referrer_not_permitted_to_redeem", code)
    : null;
}
