import { enumName, validityFromProto } from "@scrip/mapping";
import {
  CampaignKind,
  CampaignType,
  type CreateCampaignRequest,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Campaign } from "../domain/campaign.ts";
import { checkNewCampaign, type NewCampaign } from "../domain/check-campaign.ts";
import { invalidCampaign, invalidParams, requireValidity } from "../mapping/terms.ts";
import { toTemplate } from "../mapping/voucher-template.ts";

/** As many codes as fit into a request; more are the work of a job. */
export const MAX_AT_ONCE = 100n;

export type NewCampaignPlan = {
  readonly campaign: Campaign;
  /** How many codes to make. */
  readonly count: number;
};

export function planCampaign(
  request: CreateCampaignRequest,
  call: Call,
  { id, categoryId }: { readonly id: string; readonly categoryId: string | undefined },
): NewCampaignPlan {
  const parts = partsOf(request);
  const violation = checkNewCampaign(parts);
  if (violation !== null) throw invalidCampaign(violation);
  const { campaignType, kind } = parts;
  const count = countOf(parts);
  const validity = validityFromProto(request);
  requireValidity(validity);
  const status = count > 0n ? "IN_PROGRESS" : "DONE";
  return {
    count: Number(count),
    campaign: {
      id,
      name: request.name,
      description: request.description ?? null,
      campaignType,
      kind,
      autoJoin: request.autoJoin ?? false,
      joinOnce: joinOnceOf({ campaignType, kind }, request.joinOnce ?? false),
      useVoucherMetadataSchema: request.useVoucherMetadataSchema ?? false,
      active: true,
      isProtected: false,
      creationStatus: status,
      generationStatus: status,
      vouchersCount: 0n,
      categoryId: categoryId ?? null,
      validity,
      activityDuration: request.activityDurationAfterPublishing ?? null,
      metadata: request.metadata ?? {},
      voucher: campaignType === "PROMOTION" ? null : toTemplate(request.voucher, call),
      referralProgram: request.referralProgram ?? null,
      loyaltyTiersExpiration: request.loyaltyTiersExpiration ?? null,
      createdAt: call.now,
      updatedAt: null,
    },
  };
}

function partsOf({
  campaignType,
  type,
  vouchersCount,
  voucher,
  promotion,
  reservedId,
}: CreateCampaignRequest): NewCampaign {
  return {
    campaignType: enumName(CampaignType, campaignType) ?? "DISCOUNT_COUPONS",
    kind: enumName(CampaignKind, type) ?? "STATIC",
    vouchersCount: vouchersCount ?? null,
    voucher: {
      type: enumName(VoucherType, voucher?.type) ?? null,
      discount: voucher?.discount !== undefined,
      gift: voucher?.gift !== undefined,
      giftAmount: voucher?.gift?.amount !== undefined,
      loyaltyCard: voucher?.loyaltyCard !== undefined,
      loyaltyPoints: voucher?.loyaltyCard?.points !== undefined,
      code: voucher?.code !== undefined,
    },
    promotion: promotion !== undefined,
    // The gateway reserves an id to assign the rules to, and for nothing else.
    rules: reservedId !== undefined,
  };
}

function countOf({ kind, vouchersCount }: NewCampaign): bigint {
  const count = kind === "STANDALONE" ? 1n : (vouchersCount ?? 0n);
  if (count > MAX_AT_ONCE) {
    throw invalidParams(
      `Property .vouchers_count cannot be higher than ${MAX_AT_ONCE}: larger campaigns are not available yet`,
    );
  }
  return count;
}

/** Cards are joined once; a public code is nobody's. */
export function joinOnceOf(
  { campaignType, kind }: Pick<Campaign, "campaignType" | "kind">,
  sent: boolean,
): boolean {
  if (campaignType === "LOYALTY_PROGRAM") return true;
  return kind === "STANDALONE" ? false : sent;
}
