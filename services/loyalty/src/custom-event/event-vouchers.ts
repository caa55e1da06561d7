import { ApiError, notFound } from "@scrip/errors";
import type {
  EventLoyalty,
  EventReferral,
  EventVoucher,
} from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";

import type { ConvertedReferral } from "../events/custom-event-received.ts";

/** The id of the card that earns the points of an event, which the customer must hold. */
export function requireCard(loyalty: EventLoyalty, customerId: string): string {
  const voucher = requireVoucher(loyalty);
  if (!voucher.isLoyaltyCard) {
    throw new ApiError("invalid_voucher", { details: `${voucher.code} is not a loyalty card` });
  }
  if (voucher.holderId !== customerId) {
    throw new ApiError("invalid_customer", {
      details: `Loyalty card ${voucher.code} is not held by the customer`,
    });
  }
  return voucher.id;
}

/** The referral that an event converts: of a code that another customer holds. */
export function requireReferral(referral: EventReferral, customerId: string): ConvertedReferral {
  const { id: voucherId, code, campaignId, holderId, isReferralCode } = requireVoucher(referral);
  if (!isReferralCode || campaignId === undefined) {
    throw new ApiError("invalid_voucher", { details: `${code} is not a referral code` });
  }
  const { referrerId = holderId } = referral;
  if (holderId === undefined || referrerId !== holderId) {
    throw new ApiError("invalid_customer", {
      details: `Referral code ${code} is not held by the referrer`,
    });
  }
  if (holderId === customerId) {
    throw new ApiError("referrer_not_permitted_to_redeem", { details: code });
  }
  return { voucherId, code, campaignId, referrerId: holderId };
}

/** The gateway resolves codes; a direct caller that does not is told that the code is unknown. */
function requireVoucher({ code, voucher }: EventLoyalty | EventReferral): EventVoucher {
  if (voucher === undefined) throw notFound("voucher", code);
  return voucher;
}
