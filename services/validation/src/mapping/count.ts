import type { JsonObject } from "@bufbuild/protobuf";
import { instantToProto } from "@scrip/mapping";
import {
  type Count as CountMessage,
  type CountGuard as CountGuardMessage,
  CountMeasure,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { CountGuard } from "../domain/counts/count-guard.ts";
import { type Count, UNSTORED_CUSTOMER } from "../domain/counts/counts.ts";
import { rejectionToProto } from "./error.ts";

export const countToProto = (count: Count): CountMessage => ({
  $typeName: "scrip.voucher.v1.Count",
  scope: { case: SCOPES[count.scope.kind], value: count.scope.id },
  measure: CountMeasure[count.measure],
  ...(count.customerId !== null && { customerId: count.customerId }),
  ...(count.channelId !== null && { channelId: count.channelId }),
  ...(count.since !== null && { since: instantToProto(count.since) }),
  ...(count.productId !== null && { productId: count.productId }),
});

/**
 * The count that the commit checks again under its locks, for the id under which the redemption has
 * stored the customer.
 */
export const countGuardToProto = (
  { count, add, conditions, rejection }: CountGuard,
  {
    requestId,
    customerId,
  }: { readonly requestId: string; readonly customerId: string | undefined },
): CountGuardMessage => ({
  $typeName: "scrip.voucher.v1.CountGuard",
  count: countToProto(
    count.customerId === UNSTORED_CUSTOMER ? { ...count, customerId: idOf(customerId) } : count,
  ),
  add,
  conditions: conditions as JsonObject,
  ...(rejection !== null && { rejection: rejectionToProto(rejection, requestId) }),
});

function idOf(customerId: string | undefined): string {
  if (customerId === undefined) throw new Error("a customer count needs a stored customer");
  return customerId;
}

const SCOPES = {
  voucher: "voucherId",
  promotion_tier: "promotionTierId",
  campaign: "campaignId",
} as const;
