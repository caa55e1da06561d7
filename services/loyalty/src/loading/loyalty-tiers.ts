import { createDefinitionCache, type DefinitionVersions, type Queryable } from "@scrip/postgres";

import type { Tier } from "../domain/tiers/tier.ts";
import { findProjectTiers } from "../store/loyalty-tiers.ts";

/** The loyalty tiers of a project, deleted ones included, by the id of their program. */
export type ProjectTiers = ReadonlyMap<string, readonly Tier[]>;

/** Without tiers, costs no statement once it is cached. */
export type LoyaltyTiers = (projectId: string) => Promise<ProjectTiers>;

export const tiersByProgram = (tiers: readonly Tier[]): ProjectTiers =>
  Map.groupBy(tiers, ({ campaignId }) => campaignId);

const MAX_PROJECTS = 5_000;
const NONE: ProjectTiers = new Map();

/** Caches the tiers of projects. */
export function createLoyaltyTiers(db: Queryable, versions: DefinitionVersions): LoyaltyTiers {
  const cache = createDefinitionCache<ProjectTiers>({
    versions,
    maxEntries: MAX_PROJECTS,
    load: async (keys) => {
      const tiers = await findProjectTiers(db, [
        ...new Set(keys.map(({ projectId }) => projectId)),
      ]);
      return keys.map(({ projectId }) => tiersByProgram(tiers.get(projectId) ?? []));
    },
  });
  return async (projectId) => (await cache.get(projectId, "")) ?? NONE;
}
