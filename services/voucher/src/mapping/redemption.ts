import { fromBinary } from "@bufbuild/protobuf";
import { instantToProto } from "@scrip/mapping";
import { CustomerSchema } from "@scrip/proto/scrip/common/v1/customer_pb";
import { OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import { PromotionTierSummarySchema } from "@scrip/proto/scrip/common/v1/promotion_tier_pb";
import {
  type Redemption,
  RedemptionResult,
  RedemptionStatus,
  type RelatedRedemptions,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { VoucherUsage } from "../domain/usage.ts";
import type { StoredRedemption, UsageAfter } from "../store/redemptions.ts";
import type { StoredRollback } from "../store/rollbacks.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { pointsToProto, withRedeemedPoints } from "./points.ts";
import { scopeFromBinary, withScope } from "./scope.ts";
import { voucherToProto } from "./voucher.ts";

/**
 * A stored redemption. Its voucher shows the counters right after the redemption and the current definition; for a
 * failed redemption, which changed nothing, both are current.
 */
export function redemptionToProto(
  stored: StoredRedemption,
  voucher: StoredVoucher | undefined,
): Redemption {
  return {
    $typeName: "scrip.voucher.v1.Redemption",
    id: stored.id,
    date: instantToProto(stored.createdAt),
    customerId: stored.customerId ?? undefined,
    trackingId: stored.trackingId ?? undefined,
    metadata: stored.metadata ?? undefined,
    amount: stored.amount ?? undefined,
    result: stored.status === "FAILED" ? RedemptionResult.FAILURE : RedemptionResult.SUCCESS,
    status: RedemptionStatus[stored.status],
    order: stored.order === null ? undefined : fromBinary(OrderSchema, stored.order),
    channel: {
      $typeName: "scrip.voucher.v1.Channel",
      channelId: stored.channelId,
      channelType: stored.channelType,
    },
    customer: stored.customer === null ? undefined : fromBinary(CustomerSchema, stored.customer),
    ...relatedObject(stored.id, stored),
    redemption: stored.parentId ?? undefined,
    promotionTier:
      stored.tier === null ? undefined : fromBinary(PromotionTierSummarySchema, stored.tier),
    session:
      stored.sessionKey === null
        ? undefined
        : { $typeName: "scrip.voucher.v1.RedemptionSession", key: stored.sessionKey },
    voucher:
      voucher &&
      withScope(
        withRedeemedPoints(
          voucherToProto({ ...voucher, usage: usageAfter(voucher.usage, stored) }),
          stored.points,
        ),
        scopeFromBinary(stored.scope),
      ),
    gift:
      stored.amount === null
        ? undefined
        : { $typeName: "scrip.voucher.v1.RedemptionGift", amount: stored.amount },
    failureCode: stored.failure?.code,
    failureMessage: stored.failure?.message,
    ...pointsToProto(stored.points),
  };
}

/** The parts of a parent redemption, and the rollbacks. */
export function relatedRedemptions({
  rollbacks,
  parts,
}: {
  readonly rollbacks: readonly StoredRollback[];
  readonly parts: readonly StoredRedemption[];
}): RelatedRedemptions | undefined {
  if (rollbacks.length === 0 && parts.length === 0) return undefined;
  return {
    $typeName: "scrip.voucher.v1.RelatedRedemptions",
    rollbacks: rollbacks.map(({ id, createdAt, orderMode }) => ({
      $typeName: "scrip.voucher.v1.RelatedRollback",
      id,
      date: instantToProto(createdAt),
      rollbackOrderMode: orderMode,
    })),
    redemptions: parts.map(({ id, createdAt }) => ({
      $typeName: "scrip.voucher.v1.RelatedRedemption",
      id,
      date: instantToProto(createdAt),
    })),
  };
}

/** The redeemed object: a voucher, a promotion tier, or the redemption itself for a parent. */
export function relatedObject(
  redemptionId: string,
  of: {
    readonly voucherId: string | null;
    readonly tierId: string | null;
    readonly campaignId: string | null;
  },
): RelatedObject {
  const id = of.voucherId ?? of.tierId;
  if (id === null) return { relatedObjectType: "redemption", relatedObjectId: redemptionId };
  const type = of.voucherId === null ? "promotion_tier" : "voucher";
  return {
    relatedObjectType: type,
    relatedObjectId: id,
    relatedObjectParentId: of.campaignId ?? undefined,
    redeemableType: type,
    redeemableId: id,
  };
}

type RelatedObject = Pick<
  Redemption,
  | "relatedObjectType"
  | "relatedObjectId"
  | "relatedObjectParentId"
  | "redeemableType"
  | "redeemableId"
>;

/** The counters right after, or the current ones when nothing changed. */
export function usageAfter(
  usage: VoucherUsage,
  { after }: { readonly after: UsageAfter | null },
): VoucherUsage {
  if (after === null) return usage;
  return {
    ...usage,
    ...after,
    balance: after.amount === null ? null : after.amount - after.redeemedAmount,
  };
}
