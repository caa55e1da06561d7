import { invalidPayload, notFound } from "@scrip/errors";
import type {
  CampaignService,
  CreateCampaignVouchersRequest,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Call, Handler } from "@scrip/rpc";

import { addVouchers } from "../campaign/add-vouchers.ts";
import { inherit, type VoucherItem } from "../campaign/create-vouchers.ts";
import { MAX_AT_ONCE } from "../campaign/plan-campaign.ts";
import { categoryIdOf } from "../category/resolve-category.ts";
import type { Deps } from "../deps.ts";
import type { Campaign } from "../domain/campaign.ts";
import { checkAddedVouchers } from "../domain/check-campaign.ts";
import { invalidCampaign, invalidParams } from "../mapping/terms.ts";
import { mergedCodeConfig } from "../mapping/voucher-template.ts";
import { findCampaign } from "../store/campaigns.ts";

export const createCampaignVouchers =
  (deps: Deps): Handler<typeof CampaignService.method.createCampaignVouchers> =>
  async (request, call) => {
    const count = countOf(request);
    await refuseEarly(deps, request, call);
    const categoryId = await categoryIdOf(deps, request, call);
    return addVouchers(deps, call, request.campaignId, (campaign) => {
      const item = itemOf(campaign, { request, call, categoryId });
      return Array.from({ length: count }, () => item);
    });
  };

function countOf({ vouchersCount = 1n, code }: CreateCampaignVouchersRequest): number {
  if (vouchersCount > MAX_AT_ONCE) {
    throw invalidParams(
      `Property .vouchers_count cannot be higher than ${MAX_AT_ONCE}: more vouchers at once are not available yet`,
    );
  }
  if (code !== undefined && vouchersCount !== 1n) {
    throw invalidPayload("Property .code is for one voucher");
  }
  return Number(vouchersCount);
}

/** Before anybody waits, or a category is made for nothing. */
async function refuseEarly(
  deps: Deps,
  request: CreateCampaignVouchersRequest,
  call: Call,
): Promise<void> {
  const found = await findCampaign(deps.db, call.project.id, request.campaignId);
  if (found === undefined) throw notFound("campaign", request.campaignId);
  const violation = checkAddedVouchers(found.campaign);
  if (violation !== null) throw invalidCampaign(violation);
  itemOf(found.campaign, { request, call, categoryId: undefined });
}

function itemOf(
  campaign: Campaign,
  own: {
    readonly request: CreateCampaignVouchersRequest;
    readonly call: Call;
    readonly categoryId: string | undefined;
  },
): VoucherItem {
  const { request, call, categoryId } = own;
  const { code, codeConfig, metadata, redemption, additionalInfo } = request;
  return inherit(campaign, {
    code,
    codeConfig: mergedCodeConfig(campaign, codeConfig, call),
    categoryId,
    metadata,
    redemption,
    additionalInfo,
    startDate: request.startDate,
    expirationDate: request.expirationDate,
  });
}
