import { ApiError } from "@scrip/errors";
import { enumName } from "@scrip/mapping";
import type { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import {
  type CreateVoucherRequest,
  VoucherType as VoucherTypes,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call, Handler } from "@scrip/rpc";

import { addVouchers } from "../campaign/add-vouchers.ts";
import { requireCampaign } from "../campaign/require-campaign.ts";
import type { Deps } from "../deps.ts";
import { type Campaign, voucherTypeOf } from "../domain/campaign.ts";
import { checkVoucherCreation } from "../domain/check-campaign.ts";
import { invalidCampaign } from "../domain/errors.ts";
import { inheritFromCampaign, type VoucherItem } from "../mapping/campaign-voucher.ts";
import { voucherCodeConfig } from "../mapping/code-config.ts";

export const createVoucher =
  (deps: Deps): Handler<typeof CampaignService.method.createVoucher> =>
  async (request, call) => {
    const idOrName = request.campaignId ?? request.campaign ?? "";
    const found = await requireCampaign(deps.db, call.project.id, idOrName);
    rejectOtherType(found.campaign, request);
    return addVouchers(deps, call, found.campaign.id, (campaign) => [
      voucherItem(campaign, request, call),
    ]);
  };

function rejectOtherType(campaign: Campaign, request: CreateVoucherRequest): void {
  const violation = checkVoucherCreation(campaign);
  if (violation !== null) throw invalidCampaign(violation);
  const sent = enumName(VoucherTypes, request.type);
  const type = voucherTypeOf(campaign.campaignType);
  if (sent === undefined || sent === type) return;
  throw new ApiError("invalid_voucher", {
    details: `Vouchers of a ${campaign.campaignType} campaign must be of type ${type}`,
  });
}

function voucherItem(campaign: Campaign, request: CreateVoucherRequest, call: Call): VoucherItem {
  const { $typeName: _, campaign: _name, campaignId: _id, category: _category, ...own } = request;
  return inheritFromCampaign(campaign, {
    ...own,
    codeConfig: voucherCodeConfig(campaign, request.codeConfig, call),
  });
}
