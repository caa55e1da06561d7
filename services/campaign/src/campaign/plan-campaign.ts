import { enumName } from "@scrip/mapping";
import {
  CampaignKind,
  CampaignType,
  type CreateCampaignRequest,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import { initialStatus } from "../domain/campaign-status.ts";
import { type Campaign, effectiveJoinOnce, inferCampaignType } from "../domain/campaign.ts";
import { checkNewCampaign, type CampaignParts } from "../domain/check-campaign.ts";
import { invalidCampaign } from "../domain/errors.ts";
import type { ReferralProgram } from "../domain/referral-program.ts";
import { requireCodeCapacity } from "../mapping/code-config.ts";
import { parseValidity } from "../mapping/validity.ts";
import { checkedTiersExpiration, parseVoucherTemplate } from "../mapping/voucher-template.ts";
import { requireSize } from "./check-capacity.ts";

/** Up to this number, codes are created before the response; a job generates more. */
export const MAX_CODES_PER_REQUEST = 100n;

export type CampaignPlan = {
  readonly campaign: Campaign;
  /** Number of codes to create before the response. */
  readonly count: number;
  /** Number of codes that a job generates. */
  readonly jobCount: bigint;
};

/** What a new campaign refers to, resolved before. */
export type NewCampaignReferences = {
  /** Number of vouchers that a campaign may have. */
  readonly maxVouchers: number;
  readonly id: string;
  readonly categoryId: string | undefined;
  readonly referralProgram: ReferralProgram | null;
};

/** Checks a request and returns the campaign that it creates, without any writes. */
export function planCampaign(
  request: CreateCampaignRequest,
  call: Call,
  { id, categoryId, referralProgram, maxVouchers }: NewCampaignReferences,
): CampaignPlan {
  const parts = campaignParts(request);
  const violation = checkNewCampaign(parts);
  if (violation !== null) throw invalidCampaign(violation);
  const { campaignType, kind } = parts;
  const count = requestedCount(parts);
  requireSize(maxVouchers, 0n, count);
  const voucher = campaignType === "PROMOTION" ? null : parseVoucherTemplate(request.voucher, call);
  if (voucher?.code === null) requireCodeCapacity(voucher.codeConfig, count, call);
  const validity = parseValidity(request);
  const status = initialStatus(count);
  return {
    ...(count > MAX_CODES_PER_REQUEST
      ? { count: 0, jobCount: count }
      : { count: Number(count), jobCount: 0n }),
    campaign: {
      id,
      name: request.name,
      description: request.description ?? null,
      campaignType,
      kind,
      autoJoin: request.autoJoin ?? false,
      joinOnce: effectiveJoinOnce({ campaignType, kind }, request.joinOnce ?? false),
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
      voucher,
      referralProgram,
      loyaltyTiersExpiration: checkedTiersExpiration(request.loyaltyTiersExpiration),
      createdAt: call.now,
      updatedAt: null,
    },
  };
}

/** The type of the campaign that a request creates. */
export const newCampaignType = (request: CreateCampaignRequest): Campaign["campaignType"] =>
  campaignParts(request).campaignType;

function campaignParts({
  campaignType,
  type,
  vouchersCount,
  voucher,
  promotion,
  reservedId,
}: CreateCampaignRequest): CampaignParts {
  const parts: Omit<CampaignParts, "campaignType"> = {
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
    // The gateway reserves an id only if validation rules are assigned to the campaign.
    rules: reservedId !== undefined,
  };
  return {
    ...parts,
    campaignType: enumName(CampaignType, campaignType) ?? inferCampaignType(parts),
  };
}

const requestedCount = ({ kind, vouchersCount }: CampaignParts): bigint =>
  kind === "STANDALONE" ? 1n : (vouchersCount ?? 0n);
