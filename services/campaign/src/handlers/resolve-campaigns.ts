import type {
  CampaignResult,
  CampaignQuery,
  CampaignService,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { type Definitions, USABLE } from "../loading/definition-cache.ts";

export const resolveCampaigns =
  ({ definitions }: Deps): Handler<typeof CampaignService.method.resolveCampaigns> =>
  async ({ queries }) => ({
    $typeName: "scrip.campaign.v1.ResolveCampaignsResponse",
    results: await Promise.all(queries.map((query) => answerOf(definitions, query))),
  });

/** Stacks lead to tiers and tiers to campaigns. Queries that miss the cache at once travel together. */
async function answerOf(definitions: Definitions, query: CampaignQuery): Promise<CampaignResult> {
  const { projectId } = query;
  const usable =
    query.allActiveTiers || query.allActiveStacks || query.allActiveStandalone
      ? await definitions.usable.get(projectId, USABLE)
      : undefined;
  const [named, stacks] = await Promise.all([
    definitions.campaignIds.getMany(projectId, query.campaignNames),
    definitions.stacks.getMany(
      projectId,
      unique(query.stackIds, query.allActiveStacks ? (usable?.stackIds ?? []) : []),
    ),
  ]);
  const tiers = await definitions.tiers.getMany(
    projectId,
    unique(
      query.tierIds,
      query.allActiveTiers ? (usable?.tierIds ?? []) : [],
      [...stacks.values()].flatMap((stack) => stack.tiers?.ids ?? []),
    ),
  );
  const campaigns = await definitions.campaigns.getMany(
    projectId,
    unique(
      query.campaignIds,
      query.allActiveStandalone ? (usable?.standaloneIds ?? []) : [],
      [...named.values()],
      [...tiers.values()].map(({ campaignId }) => campaignId),
      [...stacks.values()].map(({ campaignId }) => campaignId),
    ),
  );
  return {
    $typeName: "scrip.campaign.v1.CampaignResult",
    campaigns: [...campaigns.values()],
    tiers: [...tiers.values()],
    stacks: [...stacks.values()],
  };
}

const unique = (...lists: readonly (readonly string[])[]): readonly string[] => [
  ...new Set(lists.flat()),
];
