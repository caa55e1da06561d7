import { invalidPayload, notFound } from "@scrip/errors";
import type {
  CampaignService,
  CreateCampaignVouchersRequest,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { Campaign } from "../domain/campaign.ts";
import { checkAddedVouchers } from "../domain/new-campaign.ts";
import { findCampaign } from "../store/campaigns.ts";
import { endTurn } from "../store/turns.ts";
import { awaitTurn } from "./campaign-turn.ts";
import { inherit, makeVouchers, type VoucherItem } from "./campaign-vouchers.ts";
import { categoryIdOf } from "./category-reference.ts";
import { MAX_AT_ONCE } from "./new-campaign.ts";
import { invalidCampaign, invalidParams } from "./terms.ts";
import { requireCodeConfig } from "./voucher-template.ts";

export const createCampaignVouchers =
  (deps: Deps): Handler<typeof CampaignService.method.createCampaignVouchers> =>
  async (request, call) => {
    const count = countOf(request);
    await refuseEarly(deps, request, call);
    const categoryId = await categoryIdOf(deps, request, call);
    const { turn, record } = await awaitTurn(deps, call, request.campaignId);
    const { campaign } = record;
    let made: readonly Voucher[] = [];
    try {
      const item = itemOf(campaign, { request, call, categoryId });
      const items = Array.from({ length: count }, () => item);
      const outcome = await makeVouchers(deps, call, { campaign, items });
      if (outcome instanceof Error) throw outcome;
      made = outcome;
    } finally {
      const status = campaign.creationStatus === "FAILED" ? "FAILED" : "DONE";
      await endTurn(deps.db, turn, { status, vouchersMade: made.length });
    }
    const [first] = made;
    if (first === undefined) throw new Error("no voucher was made and none was refused");
    return first;
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
  const standing = campaign.voucher?.codeConfig ?? {};
  const { length, ...settings } = requireCodeConfig(standing, codeConfig, call);
  return inherit(campaign, {
    code,
    codeConfig: { length: BigInt(length), ...settings },
    categoryId,
    metadata,
    redemption,
    additionalInfo,
    startDate: request.startDate,
    expirationDate: request.expirationDate,
  });
}
