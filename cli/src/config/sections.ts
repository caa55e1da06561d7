import type { Section } from "./section.ts";
import { campaigns, promotionStacks, promotionTiers } from "./sections/campaign-sections.ts";
import { metadataSchemas, settings, stackingRules } from "./sections/project-sections.ts";
import { rewardAssignments, rewards } from "./sections/reward-sections.ts";
import { categories, collections, segments, validationRules } from "./sections/rule-sections.ts";

/** In the order of the file; changes follow the references between objects. */
export const SECTIONS: readonly Section[] = [
  settings,
  metadataSchemas,
  categories,
  segments,
  collections,
  validationRules,
  campaigns,
  promotionTiers,
  promotionStacks,
  rewards,
  rewardAssignments,
  stackingRules,
];
