import { createDefinitionCache, type DefinitionVersions, type Queryable } from "@scrip/postgres";
import { type Metadata, parseValidationRule, type ValidationRule } from "@scrip/rules";

import type { EarningRule } from "../domain/earning/earning-rule.ts";
import { findProjectEarningRules } from "../store/earning-rules.ts";
import { findEarningConditions } from "../store/validation-rules.ts";

/** The earning rules of a project, prepared for evaluation. */
export type ProjectEarning = {
  /** Whether there are rules, also inactive ones. */
  readonly hasRules: boolean;
  /** Active rules by event, oldest first. */
  readonly rules: ReadonlyMap<string, readonly EarningRule[]>;
  readonly conditions: ReadonlyMap<string, ValidationRule>;
};

export type EarningDefinitions = (projectId: string) => Promise<ProjectEarning>;

const MAX_PROJECTS = 5_000;
const NOTHING: ProjectEarning = { hasRules: false, rules: new Map(), conditions: new Map() };

/** Caches the earning rules of projects with their validation rules. */
export function createEarningDefinitions(
  db: Queryable,
  versions: DefinitionVersions,
): EarningDefinitions {
  const cache = createDefinitionCache<ProjectEarning>({
    versions,
    maxEntries: MAX_PROJECTS,
    load: async (keys) => {
      const ids = [...new Set(keys.map(({ projectId }) => projectId))];
      const [rules, conditions] = await Promise.all([
        findProjectEarningRules(db, ids),
        findEarningConditions(db, ids),
      ]);
      return keys.map(({ projectId }) => ({
        hasRules: rules.has(projectId),
        rules: Map.groupBy(
          (rules.get(projectId) ?? []).filter(({ active }) => active),
          ({ event }) => event,
        ),
        conditions: parsedConditions(conditions.get(projectId)),
      }));
    },
  });
  return async (projectId) => (await cache.get(projectId, "")) ?? NOTHING;
}

/** Deleted rules, and those that a newer version wrote in a form that this one cannot read, never hold. */
function parsedConditions(
  conditions: ReadonlyMap<string, Metadata | null> = new Map(),
): ReadonlyMap<string, ValidationRule> {
  return new Map(
    [...conditions].flatMap(([id, rules]): [string, ValidationRule][] => {
      if (rules === null) return [];
      const definition = { id, rules, bundleRules: null, applicableTo: null, errorMessage: null };
      const parsed = parseValidationRule(definition);
      return parsed.kind === "rule" ? [[id, parsed.rule]] : [];
    }),
  );
}
