import type { CreateCampaignVouchersRequest } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Call } from "@scrip/rpc";

import type { Campaign } from "../domain/campaign.ts";
import { inheritFromCampaign, type VoucherItem } from "../mapping/campaign-voucher.ts";
import { voucherCodeConfig } from "../mapping/code-config.ts";

/** A voucher that a request adds to the campaign, with the id of its category. */
export function requestedVoucher(
  campaign: Campaign,
  { request, call }: { readonly request: CreateCampaignVouchersRequest; readonly call: Call },
): VoucherItem {
  const { code, codeConfig, categoryId, metadata, redemption, additionalInfo } = request;
  return inheritFromCampaign(campaign, {
    code,
    codeConfig: voucherCodeConfig(campaign, codeConfig, call),
    categoryId,
    metadata,
    redemption,
    additionalInfo,
    startDate: request.startDate,
    expirationDate: request.expirationDate,
  });
}
