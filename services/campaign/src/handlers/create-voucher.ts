import { notFound, ApiError } from "@scrip/errors";
import { enumName } from "@scrip/mapping";
import type { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import {
  type CreateVoucherRequest,
  VoucherType as VoucherTypes,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call, Handler } from "@scrip/rpc";

import { addVouchers } from "../campaign/add-vouchers.ts";
import { inherit, type VoucherItem } from "../campaign/create-vouchers.ts";
import type { Deps } from "../deps.ts";
import { type Campaign, voucherTypeOf } from "../domain/campaign.ts";
import { checkAddedVouchers } from "../domain/check-campaign.ts";
import { invalidCampaign } from "../mapping/terms.ts";
import { mergedCodeConfig } from "../mapping/voucher-template.ts";
import { findCampaign } from "../store/campaigns.ts";

export const createVoucher =
  (deps: Deps): Handler<typeof CampaignService.method.createVoucher> =>
  async (request, call) => {
    const idOrName = request.campaignId ?? request.campaign ?? "";
    const found = await findCampaign(deps.db, call.project.id, idOrName);
    if (found === undefined) throw notFound("campaign", idOrName);
    refuseForeign(found.campaign, request);
    return addVouchers(deps, call, found.campaign.id, (campaign) => [
      itemOf(campaign, request, call),
    ]);
  };

function refuseForeign(campaign: Campaign, request: CreateVoucherRequest): void {
  const violation = checkAddedVouchers(campaign);
  if (violation !== null) throw invalidCampaign(violation);
  const type = voucherTypeOf(campaign.campaignType);
  if (enumName(VoucherTypes, request.type) === type) return;
  throw new ApiError("invalid_voucher", {
    details: `Vouchers of ${campaign.campaignType} campaign must be of type ${type}`,
  });
}

function itemOf(campaign: Campaign, request: CreateVoucherRequest, call: Call): VoucherItem {
  const { $typeName: _, campaign: _name, campaignId: _id, category: _category, ...own } = request;
  return inherit(campaign, {
    ...own,
    codeConfig: mergedCodeConfig(campaign, request.codeConfig, call),
  });
}
