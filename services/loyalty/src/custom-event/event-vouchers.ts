import { ApiError, invalidPayload, notFound } from "@scrip/errors";
import type { ReferralConversion } from "@scrip/proto/scrip/common/v1/referral_conversion_pb";
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

/** The event that names a referral code. */
export type ReferralEvent = { readonly name: string; readonly schemaId: string | null };

/** The referral that an event converts: of a code that another customer holds, in a program that waits for the event. */
export function requireReferral(
  referral: EventReferral,
  customerId: string,
  event: ReferralEvent,
): ConvertedReferral {
  const { id: voucherId, code, campaignId, holderId, ...voucher } = requireVoucher(referral);
  const { isReferralCode, referralConversion } = voucher;
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
  if (referralConversion !== undefined && !isConvertedBy(referralConversion, event)) {
    throw invalidPayload(`Referral code ${code} is not converted by the event '${event.name}'`);
  }
  return { voucherId, code, campaignId, referrerId: holderId };
}

/** As the voucher service decides when it converts. */
const isConvertedBy = (
  { eventType, eventName, eventSchemaId }: ReferralConversion,
  { name, schemaId }: ReferralEvent,
): boolean =>
  eventType === "custom_event" &&
  (eventSchemaId !== undefined && schemaId !== null
    ? eventSchemaId === schemaId
    : eventName === name);

/** The gateway resolves codes; a direct caller that does not gets `not_found`. */
function requireVoucher({ code, voucher }: EventLoyalty | EventReferral): EventVoucher {
  if (voucher === undefined) throw notFound("voucher", code);
  return voucher;
}
