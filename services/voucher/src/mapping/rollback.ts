import { fromBinary, type JsonObject } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { instantToProto } from "@scrip/mapping";
import { CustomerSchema } from "@scrip/proto/scrip/common/v1/customer_pb";
import { type Order, OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import { PromotionTierSummarySchema } from "@scrip/proto/scrip/common/v1/promotion_tier_pb";
import {
  type Redemption,
  RedemptionResult,
  RedemptionStatus,
  type Rollback,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import type { StoredRedemption } from "../store/redemptions.ts";
import type { NewRollback, StoredRollback } from "../store/rollbacks.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { pointsToProto, withRedeemedPoints } from "./points.ts";
import { relatedObject, usageAfter } from "./redemption.ts";
import { voucherToProto } from "./voucher.ts";

/** A rollback, from its row and its redemption. */
export function rollbackToProto(
  row: Omit<NewRollback, "metadata" | "order" | "after" | "requestId">,
  about: {
    readonly date: Timestamp | undefined;
    readonly metadata: JsonObject | null;
    readonly order: Order | undefined;
    /** The redemption that was rolled back. */
    readonly redemption: StoredRedemption;
    /** The voucher right after the rollback. */
    readonly voucher: Voucher | undefined;
  },
): Rollback {
  const { redemption } = about;
  const amount = row.amount === null ? undefined : -row.amount;
  return {
    $typeName: "scrip.voucher.v1.Rollback",
    id: row.id,
    date: about.date,
    customerId: row.customerId ?? undefined,
    trackingId: row.trackingId ?? undefined,
    metadata: about.metadata ?? undefined,
    amount,
    redemption: row.redemptionId,
    reason: row.reason ?? undefined,
    result: row.failure === null ? RedemptionResult.SUCCESS : RedemptionResult.FAILURE,
    status: row.failure === null ? RedemptionStatus.SUCCEEDED : RedemptionStatus.FAILED,
    failureCode: row.failure?.code,
    failureMessage: row.failure?.message,
    order: about.order,
    channel: {
      $typeName: "scrip.voucher.v1.Channel",
      channelId: row.channelId,
      channelType: row.channelType,
    },
    customer:
      redemption.customer === null ? undefined : fromBinary(CustomerSchema, redemption.customer),
    ...relatedObject(redemption.id, redemption),
    voucher: about.voucher,
    promotionTier:
      redemption.tier === null
        ? undefined
        : fromBinary(PromotionTierSummarySchema, redemption.tier),
    gift:
      amount === undefined ? undefined : { $typeName: "scrip.voucher.v1.RedemptionGift", amount },
    ...pointsToProto(row.points, -1n),
  };
}

/** A stored rollback as an entry in lists of redemptions. */
export function rollbackEntryToProto(
  stored: StoredRollback,
  about: {
    readonly redemption: StoredRedemption;
    readonly voucher: StoredVoucher | undefined;
  },
): Redemption {
  const { voucher } = about;
  const rollback = rollbackToProto(stored, {
    date: instantToProto(stored.createdAt),
    metadata: stored.metadata,
    order: stored.order === null ? undefined : fromBinary(OrderSchema, stored.order),
    redemption: about.redemption,
    voucher:
      voucher &&
      withRedeemedPoints(
        voucherToProto({ ...voucher, usage: usageAfter(voucher.usage, stored) }),
        stored.points,
      ),
  });
  return { ...rollback, $typeName: "scrip.voucher.v1.Redemption", object: "redemption_rollback" };
}
