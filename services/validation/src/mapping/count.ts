import type { JsonObject } from "@bufbuild/protobuf";
import { instantToProto } from "@scrip/mapping";
import {
  type Count,
  type CountGuard,
  CountMeasure,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { type CountName, UNSTORED_CUSTOMER } from "../domain/counts/counts.ts";
import type { Guard } from "../domain/decision/decision.ts";
import { rejectionToProto } from "./error.ts";

export const countToProto = (name: CountName): Count => ({
  $typeName: "scrip.voucher.v1.Count",
  scope: { case: SCOPES[name.scope.kind], value: name.scope.id },
  measure: CountMeasure[name.measure],
  ...(name.customerId !== null && { customerId: name.customerId }),
  ...(name.channelId !== null && { channelId: name.channelId }),
  ...(name.since !== null && { since: instantToProto(name.since) }),
  ...(name.productId !== null && { productId: name.productId }),
});

/**
 * The count that the commit checks again under its locks, for the id under which the redemption has
 * stored the customer.
 */
export const countGuardToProto = (
  { count, add, conditions, refusal }: Extract<Guard, { kind: "count" }>,
  {
    requestId,
    customerId,
  }: { readonly requestId: string; readonly customerId: string | undefined },
): CountGuard => ({
  $typeName: "scrip.voucher.v1.CountGuard",
  count: countToProto(
    count.customerId === UNSTORED_CUSTOMER ? { ...count, customerId: idOf(customerId) } : count,
  ),
  add,
  conditions: conditions as JsonObject,
  ...(refusal !== null && { rejection: rejectionToProto(refusal, requestId) }),
});

function idOf(customerId: string | undefined): string {
  if (customerId === undefined) throw new Error("a count of a customer who was not stored");
  return customerId;
}

const SCOPES = {
  voucher: "voucherId",
  promotion_tier: "promotionTierId",
  campaign: "campaignId",
} as const;
