import type { JsonObject } from "@bufbuild/protobuf";
import { instantToProto } from "@scrip/mapping";
import {
  type HeldRedeemable,
  HolderRole,
  type RedeemableHolder,
} from "@scrip/proto/scrip/voucher/v1/publications_pb";

import type { Holder } from "../store/holders.ts";

/** `redeemable` only where the holder is listed for a customer. */
export function holderToProto(holder: Holder, redeemable?: HeldRedeemable): RedeemableHolder {
  const hasMetadata = Object.keys(holder.metadata).length > 0;
  return {
    $typeName: "scrip.voucher.v1.RedeemableHolder",
    id: holder.id,
    createdAt: instantToProto(holder.createdAt),
    redeemableId: holder.voucherId,
    redeemableObject: "voucher",
    campaignId: holder.campaignId ?? undefined,
    campaignType: holder.campaignType ?? undefined,
    voucherType: holder.voucherType,
    customerId: holder.customerId,
    holderRole: HolderRole[holder.role],
    // Was a Struct when it was received, so it is JSON.
    metadata: hasMetadata ? (holder.metadata as JsonObject) : undefined,
    redeemable,
  };
}
