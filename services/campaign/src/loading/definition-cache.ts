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

import { toDefinition } from "../mapping/campaign.ts";
import { toProto } from "../mapping/category.ts";
import { toStack, toTierDefinition } from "../mapping/promotion.ts";
import { findUsable, type Usable } from "../store/active-ids.ts";
import { findCampaignIds, findCampaigns } from "../store/campaigns.ts";
import { findCategories, findCategoryIds } from "../store/categories.ts";
import { findStacks } from "../store/promotion-stacks.ts";
import { findTiers } from "../store/promotion-tiers.ts";

/**
 * What decisions read again and again, ready to be sent. A message tells of its campaign and of its
 * category too, and so every write of any of them goes through `write`.
 */
export type Definitions = Pick<DefinitionVersions, "write"> & {
  readonly campaigns: DefinitionCache<CampaignDefinition>;
  readonly campaignIds: DefinitionCache<string>;
  readonly tiers: DefinitionCache<PromotionTier>;
  readonly stacks: DefinitionCache<PromotionStack>;
  readonly categories: DefinitionCache<Category>;
  readonly categoryIds: DefinitionCache<string>;
  /** Under `USABLE`. */
  readonly usable: DefinitionCache<Usable>;
};

/** The one key of what there is once per project. */
export const USABLE = "";

/** Some 2 KiB each. */
const MAX_ENTRIES = 20_000;
const MAX_PROJECTS = 10_000;

export function createDefinitions(db: Database): Definitions {
  const versions = createDefinitionVersions({ db });
  const options = { versions, maxEntries: MAX_ENTRIES };
  return {
    write: (projectId, work) => versions.write(projectId, work),
    campaigns: createDefinitionCache({
      ...options,
      load: async (keys) => (await findCampaigns(db, keys)).map((one) => one && toDefinition(one)),
    }),
    campaignIds: createDefinitionCache({ ...options, load: (keys) => findCampaignIds(db, keys) }),
    tiers: createDefinitionCache({
      ...options,
      load: async (keys) => (await findTiers(db, keys)).map((one) => one && toTierDefinition(one)),
    }),
    stacks: createDefinitionCache({
      ...options,
      load: async (keys) => (await findStacks(db, keys)).map((one) => one && toStack(one)),
    }),
    categories: createDefinitionCache({
      ...options,
      load: async (keys) => (await findCategories(db, keys)).map((one) => one && toProto(one)),
    }),
    categoryIds: createDefinitionCache({ ...options, load: (keys) => findCategoryIds(db, keys) }),
    usable: createDefinitionCache({
      versions,
      maxEntries: MAX_PROJECTS,
      load: (keys) => findUsable(db, keys),
    }),
  };
}
