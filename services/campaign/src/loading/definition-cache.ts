import {
  createDefinitionCache,
  createDefinitionVersions,
  type Database,
  type DefinitionCache,
  type DefinitionVersions,
} from "@scrip/postgres";
import type { CampaignDefinition } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { PromotionStack, PromotionTier } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";

import { campaignDefinitionToProto } from "../mapping/campaign.ts";
import { categoryToProto } from "../mapping/category.ts";
import { stackToProto } from "../mapping/promotion-stack.ts";
import { tierDefinitionToProto } from "../mapping/promotion-tier.ts";
import { findActiveIds, type ActiveIds } from "../store/active-ids.ts";
import { findCampaignIds, findCampaigns } from "../store/campaigns.ts";
import { findCategories, findCategoryIds } from "../store/categories.ts";
import { findStacks } from "../store/promotion-stacks.ts";
import { findTiers } from "../store/promotion-tiers.ts";

/**
 * Caches of what decisions read, as messages that are ready to be sent. A message includes the campaign
 * and the category, so every write of any of them goes through `write`.
 */
export type DefinitionCaches = DefinitionVersions & {
  readonly campaigns: DefinitionCache<CampaignDefinition>;
  readonly campaignIds: DefinitionCache<string>;
  readonly tiers: DefinitionCache<PromotionTier>;
  readonly stacks: DefinitionCache<PromotionStack>;
  readonly categories: DefinitionCache<Category>;
  readonly categoryIds: DefinitionCache<string>;
  /** One entry per project, with the key `WHOLE_PROJECT`. */
  readonly activeIds: DefinitionCache<ActiveIds>;
};

export const WHOLE_PROJECT = "";

/** About 2 KiB each. */
const MAX_ENTRIES = 20_000;
const MAX_PROJECTS = 10_000;

export function createDefinitionCaches(db: Database): DefinitionCaches {
  const versions = createDefinitionVersions({ db });
  const options = { versions, maxEntries: MAX_ENTRIES };
  return {
    ...versions,
    campaigns: createDefinitionCache({
      ...options,
      load: async (keys) =>
        (await findCampaigns(db, keys)).map(
          (record) => record && campaignDefinitionToProto(record),
        ),
    }),
    campaignIds: createDefinitionCache({ ...options, load: (keys) => findCampaignIds(db, keys) }),
    tiers: createDefinitionCache({
      ...options,
      load: async (keys) =>
        (await findTiers(db, keys)).map((record) => record && tierDefinitionToProto(record)),
    }),
    stacks: createDefinitionCache({
      ...options,
      load: async (keys) =>
        (await findStacks(db, keys)).map((record) => record && stackToProto(record)),
    }),
    categories: createDefinitionCache({
      ...options,
      load: async (keys) =>
        (await findCategories(db, keys)).map((record) => record && categoryToProto(record)),
    }),
    categoryIds: createDefinitionCache({ ...options, load: (keys) => findCategoryIds(db, keys) }),
    activeIds: createDefinitionCache({
      versions,
      maxEntries: MAX_PROJECTS,
      load: (keys) => findActiveIds(db, keys),
    }),
  };
}
