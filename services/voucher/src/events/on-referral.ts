import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, type EventHandler, eventMessage } from "@scrip/events";
import { CustomEventReceivedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";
import { ReferralCodeRedeemedSchema } from "@scrip/proto/scrip/events/v1/referrals_pb";

import type { Deps } from "../deps.ts";
import { type ConversionRequest, convertReferral } from "../referral/convert.ts";

/** Converts referral codes that were redeemed or named by a custom event. Idempotent, so it needs no inbox. */
export const onReferral =
  (deps: Pick<Deps, "db" | "newId" | "onEvents">): EventHandler =>
  async (events) => {
    for (const event of events) {
      const request = conversionOf(event);
      if (request !== undefined) await convertReferral(deps, request);
    }
  };

function conversionOf(event: DeliveredEvent): ConversionRequest | undefined {
  const redeemed = eventMessage(event, ReferralCodeRedeemedSchema);
  if (redeemed?.date !== undefined) {
    const { projectId, voucherId, customerId, redemptionId, date } = redeemed;
    const cause = { type: "redemption" as const, id: redemptionId };
    return { projectId, voucherId, customerId, cause, at: timestampMs(date) };
  }
  const received = eventMessage(event, CustomEventReceivedSchema);
  if (received?.referral === undefined || received.date === undefined) return undefined;
  const { projectId, customerId, eventId, name, schemaId = null, referral, date } = received;
  const { voucherId } = referral;
  const cause = { type: "event" as const, id: eventId, name, schemaId };
  return { projectId, voucherId, customerId, cause, at: timestampMs(date) };
}
