import { optionalInstantFromProto } from "@scrip/mapping";
import type { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findFigures } from "../store/campaign-figures.ts";

const NEEDS = {
  DISCOUNT_COUPONS: ["always", "codes"],
  GIFT_VOUCHERS: ["always", "codes", "gifts"],
  LOYALTY_PROGRAM: ["always", "codes"],
  REFERRAL_PROGRAM: ["always", "codes", "referrals"],
  PROMOTION: ["always"],
} as const;

export const summarizeCampaign =
  (deps: Deps): Handler<typeof CampaignVoucherService.method.summarizeCampaign> =>
  async (request, call) => {
    const { campaignId } = request;
    const campaignType = request.campaignType as keyof typeof NEEDS;
    const scope = {
      projectId: call.project.id,
      campaignId,
      from: optionalInstantFromProto(request.from),
      until: optionalInstantFromProto(request.until),
    };
    const figures = await findFigures(deps.db, scope, new Set(NEEDS[campaignType]));
    const points =
      campaignType === "LOYALTY_PROGRAM"
        ? await deps.cards.summarizeLedger(
            {
              campaignId,
              ...(request.from !== undefined && { from: request.from }),
              ...(request.until !== undefined && { until: request.until }),
            },
            call,
          )
        : undefined;
    return {
      $typeName: "scrip.voucher.v1.SummarizeCampaignResponse",
      figures: { ...figures, ...points?.figures },
    };
  };
