import { create } from "@bufbuild/protobuf";
import { notFound } from "@scrip/errors";
import { inTimeRange } from "@scrip/filters";
import {
  ListReferralTiersResponseSchema,
  type ReferralTierService,
} from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";
import type { Handler } from "@scrip/rpc";

import { requireCampaign } from "../campaign/require-campaign.ts";
import type { Deps } from "../deps.ts";
import { referralTierToProto } from "../mapping/referral-tier.ts";
import { findReferralTiers } from "../store/referral-tiers.ts";

export const listReferralTiers =
  ({ db }: Deps): Handler<typeof ReferralTierService.method.listReferralTiers> =>
  async ({ campaignId, createdAt }, { project }) => {
    const { campaign } = await requireCampaign(db, project.id, campaignId);
    if (campaign.campaignType !== "REFERRAL_PROGRAM") throw notFound("campaign", campaignId);
    const all = await findReferralTiers(db, project.id, campaign.id);
    const tiers = all.filter((tier) => inTimeRange(new Date(tier.createdAt), createdAt));
    return create(ListReferralTiersResponseSchema, {
      data: tiers.map(referralTierToProto),
      total: BigInt(tiers.length),
    });
  };
