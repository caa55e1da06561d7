import { notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";

import type { CampaignType, Json } from "../domain/campaign.ts";
import { invalidCampaign } from "../domain/errors.ts";
import { parseReferralProgram, type RequestedReward } from "../domain/referral-program-json.ts";
import {
  DEFAULT_REFERRAL_PROGRAM,
  type ReferralProgram,
  type ReferralReward,
  REWARD_CAMPAIGN_TYPES,
} from "../domain/referral-program.ts";
import { findCampaign } from "../store/campaigns.ts";

/** The settings of a referral program in a request, with the campaigns of its rewards; null for other campaigns. */
export async function resolveReferralProgram(
  db: Queryable,
  projectId: string,
  { campaignType, json }: { readonly campaignType: CampaignType; readonly json: Json | undefined },
): Promise<ReferralProgram | null> {
  if (campaignType !== "REFERRAL_PROGRAM") {
    if (json === undefined) return null;
    throw invalidCampaign(
      `Property 'referral_program' does not belong to ${campaignType} campaign`,
    );
  }
  if (json === undefined) return DEFAULT_REFERRAL_PROGRAM;
  const { refereeReward, referrerReward, ...program } = parseReferralProgram(json);
  return {
    ...program,
    refereeReward: refereeReward && (await resolveReward(db, projectId, refereeReward)),
    referrerReward: referrerReward && (await resolveReward(db, projectId, referrerReward)),
  };
}

/** A reward with its campaign, which must exist and have vouchers of the type of the reward. */
export async function resolveReward(
  db: Queryable,
  projectId: string,
  { campaign: { id, name }, type, ...terms }: RequestedReward,
): Promise<ReferralReward> {
  // The id is that of another project when settings are copied; the name is the same.
  const found =
    (id === null ? undefined : await findCampaign(db, projectId, id)) ??
    (name === null ? undefined : await findCampaign(db, projectId, name));
  if (found === undefined) throw notFound("campaign", id ?? name ?? "");
  const { campaign } = found;
  const expected = REWARD_CAMPAIGN_TYPES[type];
  if (campaign.campaignType !== expected) {
    throw invalidCampaign(
      `A reward of type ${type} needs a ${expected} campaign: '${campaign.name}' is ${campaign.campaignType}`,
    );
  }
  return { ...terms, campaign: { id: campaign.id, name: campaign.name }, type };
}
