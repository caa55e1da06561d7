import { invalidPayload } from "@scrip/errors";
import type {
  CampaignService,
  CreateCampaignVouchersRequest,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Call, Handler } from "@scrip/rpc";

import { addVouchers } from "../campaign/add-vouchers.ts";
import { MAX_CODES_PER_REQUEST } from "../campaign/plan-campaign.ts";
import { requireCampaign } from "../campaign/require-campaign.ts";
import { resolveCategoryId } from "../category/resolve-category.ts";
import type { Deps } from "../deps.ts";
import type { Campaign } from "../domain/campaign.ts";
import { checkVoucherCreation } from "../domain/check-campaign.ts";
import { invalidCampaign, invalidCampaignParams } from "../domain/errors.ts";
import { inheritFromCampaign, type VoucherItem } from "../mapping/campaign-voucher.ts";
import { requireCodeCapacity, voucherCodeConfig } from "../mapping/code-config.ts";

export const createCampaignVouchers =
  (deps: Deps): Handler<typeof CampaignService.method.createCampaignVouchers> =>
  async (request, call) => {
    const count = requestedCount(request);
    await rejectEarly(deps, request, { call, count });
    const categoryId = await resolveCategoryId(deps, request, call);
    return addVouchers(deps, call, request.campaignId, (campaign) => {
      const item = voucherItem(campaign, { request, call, categoryId });
      return Array.from({ length: count }, () => item);
    });
  };

function requestedCount({ vouchersCount = 1n, code }: CreateCampaignVouchersRequest): number {
  if (vouchersCount > MAX_CODES_PER_REQUEST) {
    throw invalidCampaignParams(
      `Property .vouchers_count cannot be higher than ${MAX_CODES_PER_REQUEST}: send several requests to add more vouchers`,
    );
  }
  if (code !== undefined && vouchersCount !== 1n) {
    throw invalidPayload("Property .code requires .vouchers_count to be 1 or absent");
  }
  return Number(vouchersCount);
}

/**
 * Rejects an invalid request before it waits for the campaign lock and before its category is created. Codes that
 * exist are counted later, under the lock.
 */
async function rejectEarly(
  deps: Deps,
  request: CreateCampaignVouchersRequest,
  { call, count }: { readonly call: Call; readonly count: number },
): Promise<void> {
  const found = await requireCampaign(deps.db, call.project.id, request.campaignId);
  const violation = checkVoucherCreation(found.campaign);
  if (violation !== null) throw invalidCampaign(violation);
  voucherItem(found.campaign, { request, call, categoryId: undefined });
  if (request.code !== undefined) return;
  const { length, ...settings } = voucherCodeConfig(found.campaign, request.codeConfig, call);
  requireCodeCapacity({ length: Number(length), ...settings }, count, call);
}

function voucherItem(
  campaign: Campaign,
  own: {
    readonly request: CreateCampaignVouchersRequest;
    readonly call: Call;
    readonly categoryId: string | undefined;
  },
): VoucherItem {
  const { request, call, categoryId } = own;
  const { code, codeConfig, metadata, redemption, additionalInfo } = request;
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
