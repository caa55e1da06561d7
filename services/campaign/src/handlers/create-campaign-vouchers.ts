import { invalidPayload } from "@scrip/errors";
import type {
  CampaignService,
  CreateCampaignVouchersRequest,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Call, Handler } from "@scrip/rpc";

import { addVouchers } from "../campaign/add-vouchers.ts";
import { requireSize } from "../campaign/check-capacity.ts";
import { MAX_CODES_PER_REQUEST } from "../campaign/plan-campaign.ts";
import { requestedVoucher } from "../campaign/requested-voucher.ts";
import { requireCampaign } from "../campaign/require-campaign.ts";
import { resolveCategoryId } from "../category/resolve-category.ts";
import type { Deps } from "../deps.ts";
import { checkVoucherCreation } from "../domain/check-campaign.ts";
import { invalidCampaign, invalidCampaignParams } from "../domain/errors.ts";
import { requireCodeCapacity, voucherCodeConfig } from "../mapping/code-config.ts";

export const createCampaignVouchers =
  (deps: Deps): Handler<typeof CampaignService.method.createCampaignVouchers> =>
  async (request, call) => {
    const count = requestedCount(request);
    await rejectEarly(deps, request, { call, count });
    const categoryId = await resolveCategoryId(deps, request, call);
    return addVouchers(deps, call, request.campaignId, (campaign) => {
      const item = requestedVoucher(campaign, { request: { ...request, categoryId }, call });
      return Array.from({ length: count }, () => item);
    });
  };

function requestedCount({ vouchersCount = 1n, code }: CreateCampaignVouchersRequest): number {
  if (vouchersCount > MAX_CODES_PER_REQUEST) {
    throw invalidCampaignParams(
      `Property .vouchers_count cannot be higher than ${MAX_CODES_PER_REQUEST} here: a job generates more vouchers`,
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
  const { campaign } = found;
  requestedVoucher(campaign, { request, call });
  requireSize(deps.maxVouchers, campaign.vouchersCount, BigInt(count));
  if (request.code !== undefined) return;
  const { length, ...settings } = voucherCodeConfig(campaign, request.codeConfig, call);
  requireCodeCapacity({ length: Number(length), ...settings }, count, call);
}
