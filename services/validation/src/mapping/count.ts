import type { JsonObject } from "@bufbuild/protobuf";
import { countToProto } from "@scrip/mapping";
import type { CountGuard as CountGuardMessage } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { CountGuard } from "../domain/counts/count-guard.ts";
import { UNSTORED_CUSTOMER } from "../domain/counts/counts.ts";
import { rejectionToProto } from "./error.ts";

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
