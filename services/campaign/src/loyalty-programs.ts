import { notFound } from "@scrip/errors";
import {
  CampaignType,
  type GetCampaignRequest,
  type UpdateCampaignRequest,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { LoyaltyProgramService } from "@scrip/proto/scrip/campaign/v1/loyalty_programs_pb";
import type { Call, Handler } from "@scrip/rpc";

import { requireCampaign } from "./campaign/require-campaign.ts";
import { type Deps, stepDeps } from "./deps.ts";
import { invalidCampaign } from "./domain/errors.ts";
import { createCampaign } from "./handlers/create-campaign.ts";
import { getCampaign } from "./handlers/get-campaign.ts";
import { listCampaigns } from "./handlers/list-campaigns.ts";
import { updateCampaign } from "./handlers/update-campaign.ts";

type Methods = typeof LoyaltyProgramService.method;

/** The RPCs of campaigns, restricted to loyalty programs. */
export const loyaltyPrograms = {
  createCampaign:
    (deps: Deps): Handler<Methods["createCampaign"]> =>
    async (request, call) => {
      const campaignType = request.campaignType ?? CampaignType.LOYALTY_PROGRAM;
      if (campaignType !== CampaignType.LOYALTY_PROGRAM) {
        throw invalidCampaign("Property 'campaign_type' must be LOYALTY_PROGRAM");
      }
      return createCampaign(deps)({ ...request, campaignType }, call);
    },

  listCampaigns:
    (deps: Deps): Handler<Methods["listCampaigns"]> =>
    (request, call) =>
      listCampaigns(deps)({ ...request, campaignType: CampaignType.LOYALTY_PROGRAM }, call),

  getCampaign:
    (deps: Deps): Handler<Methods["getCampaign"]> =>
    async (request, call) => {
      await requireLoyaltyProgram(deps, request, call);
      return getCampaign(deps)(request, call);
    },

  updateCampaign:
    (deps: Deps): Handler<Methods["updateCampaign"]> =>
    async (request, call) => {
      await requireLoyaltyProgram(stepDeps(deps), request, call);
      return updateCampaign(deps)(request, call);
    },
};

async function requireLoyaltyProgram(
  { db }: Pick<Deps, "db">,
  { campaignId }: GetCampaignRequest | UpdateCampaignRequest,
  { project }: Call,
): Promise<void> {
  const { campaign } = await requireCampaign(db, project.id, campaignId);
  if (campaign.campaignType !== "LOYALTY_PROGRAM") throw notFound("campaign", campaignId);
}
