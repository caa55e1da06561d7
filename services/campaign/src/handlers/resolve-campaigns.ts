import type { Queryable } from "@scrip/postgres";
import type {
  CampaignResult,
  CampaignQuery,
  CampaignService,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { type DefinitionCaches, WHOLE_PROJECT } from "../loading/definition-cache.ts";
import { tierSummaryToProto } from "../mapping/promotion-tier.ts";
import { findTierUsages } from "../store/promotion-tier-usage.ts";

export const resolveCampaigns =
  ({ db, definitions }: Deps): Handler<typeof CampaignService.method.resolveCampaigns> =>
  async ({ queries }) => ({
    $typeName: "scrip.campaign.v1.ResolveCampaignsResponse",
    results: await Promise.all(queries.map((query) => resultOf(db, definitions, query))),
  });

/** Stacks refer to tiers and tiers to campaigns. Concurrent cache misses are loaded in one batch. */
async function resultOf(
  db: Queryable,
  definitions: DefinitionCaches,
  query: CampaignQuery,
): Promise<CampaignResult> {
  const { projectId } = query;
  const activeIds =
    query.allActiveTiers || query.allActiveStacks || query.allActiveStandalone
      ? await definitions.activeIds.get(projectId, WHOLE_PROJECT)
      : undefined;
  const [idsByName, stacks] = await Promise.all([
    definitions.campaignIds.getMany(projectId, query.campaignNames),
    definitions.stacks.getMany(
      projectId,
      unique(query.stackIds, query.allActiveStacks ? (activeIds?.stackIds ?? []) : []),
    ),
  ]);
  const tiers = await definitions.tiers.getMany(
    projectId,
    unique(
      query.tierIds,
      query.allActiveTiers ? (activeIds?.tierIds ?? []) : [],
      [...stacks.values()].flatMap((stack) => stack.tiers?.ids ?? []),
    ),
  );
  const usages = query.tierSummaries
    ? findTierUsages(db, projectId, [...tiers.keys()])
    : Promise.resolve(null);
  const loadCampaigns = definitions.campaigns.getMany(
    projectId,
    unique(
      query.campaignIds,
      query.allActiveStandalone ? (activeIds?.standaloneIds ?? []) : [],
      [...idsByName.values()],
      [...tiers.values()].map(({ campaignId }) => campaignId),
      [...stacks.values()].map(({ campaignId }) => campaignId),
    ),
  );
  const [campaigns, summaries] = await Promise.all([loadCampaigns, usages]);
  return {
    $typeName: "scrip.campaign.v1.CampaignResult",
    campaigns: [...campaigns.values()],
    tiers: [...tiers.values()].map((tier, index) => {
      const usage = summaries?.[index];
      return usage === undefined ? tier : { ...tier, summary: tierSummaryToProto(usage) };
    }),
    stacks: [...stacks.values()],
  };
}

const unique = (...lists: readonly (readonly string[])[]): readonly string[] => [
  ...new Set(lists.flat()),
];
