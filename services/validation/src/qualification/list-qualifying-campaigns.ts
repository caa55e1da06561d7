import type { Campaign } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { ResourceOrder } from "../domain/qualification/resource-order.ts";
import { loadCampaignCandidates } from "../loading/campaign-candidates.ts";
import { WINDOW } from "../loading/candidates.ts";
import { NO_PROMOTIONS } from "../mapping/promotions.ts";
import {
  type CandidateEvaluation,
  evaluateCandidates,
  isQualified,
  MAX_CANDIDATES,
} from "./evaluate-candidates.ts";

export type CampaignQualification = {
  readonly evaluation: CandidateEvaluation;
  readonly order: ResourceOrder;
  readonly limit: number;
};

/** Reads campaigns in the requested order, a window at a time, until enough of them qualify. */
export async function listQualifyingCampaigns(
  deps: Deps,
  call: Call,
  { evaluation, order, limit }: CampaignQualification,
): Promise<readonly Campaign[]> {
  const holderId = evaluation.requestContext.customer?.id;
  const qualifying: Campaign[] = [];
  for (let page = 1; page <= MAX_CANDIDATES / WINDOW; page += 1) {
    const { campaigns } = await deps.clients.listCampaigns(
      {
        limit: BigInt(WINDOW),
        page: BigInt(page),
        order,
        expand: ["category"],
        filters: ENABLED_WITH_VOUCHERS,
      },
      call,
    );
    const found = await loadCampaignCandidates(deps, call, { campaigns, holderId });
    const evaluated = await evaluateCandidates(deps, call, evaluation, {
      found,
      promotions: NO_PROMOTIONS,
    });
    const ids = new Set(evaluated.filter(isQualified).map(({ candidate }) => candidate.campaignId));
    qualifying.push(...campaigns.filter(({ id }) => ids.has(id)));
    if (qualifying.length >= limit || campaigns.length < WINDOW) break;
  }
  return qualifying.slice(0, limit);
}

/** Promotions have no vouchers, and loyalty cards are not candidates of qualifications. */
const ENABLED_WITH_VOUCHERS = {
  active: { conditions: { $is: [true] } },
  campaign_type: {
    conditions: { $in: ["DISCOUNT_COUPONS", "GIFT_VOUCHERS", "REFERRAL_PROGRAM"] },
  },
};
