import { optionalInstantFromProto } from "@scrip/mapping";
import type {
  CampaignVoucherService,
  SummarizeCampaignRequest,
} from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { sumDeletedPoints } from "../loading/deleted-points.ts";
import { type Figures, findFigures, type SummaryScope } from "../store/campaign-figures.ts";

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
      campaignType === "LOYALTY_PROGRAM" ? await pointsOf(deps, { request, scope }, call) : {};
    return {
      $typeName: "scrip.voucher.v1.SummarizeCampaignResponse",
      figures: { ...figures, ...points },
    };
  };

async function pointsOf(
  deps: Deps,
  {
    request: { campaignId, from, until },
    scope,
  }: { readonly request: SummarizeCampaignRequest; readonly scope: SummaryScope },
  call: Call,
): Promise<Figures> {
  const period = { ...(from !== undefined && { from }), ...(until !== undefined && { until }) };
  const { figures } = await deps.cards.summarizeLedger({ campaignId, ...period }, call);
  return { ...figures, points_deleted: await sumDeletedPoints(deps, scope, call) };
}
