import type { Section } from "./section.ts";
import { campaigns, promotionStacks, promotionTiers } from "./sections/campaign-sections.ts";
import { earningRules, loyaltyTiers, referralTiers } from "./sections/program-sections.ts";
import {
  customEventSchemas,
  metadataSchemas,
  settings,
  stackingRules,
} from "./sections/project-sections.ts";
import { rewardAssignments, rewards } from "./sections/reward-sections.ts";
import { categories, collections, segments, validationRules } from "./sections/rule-sections.ts";

/** In the order of the file; changes follow the references between objects. */
export const SECTIONS: readonly Section[] = [
  settings,
  metadataSchemas,
  customEventSchemas,
  categories,
  segments,
  collections,
  validationRules,
  campaigns,
  promotionTiers,
  promotionStacks,
  rewards,
  rewardAssignments,
  earningRules,
  loyaltyTiers,
  referralTiers,
  stackingRules,
];
