import {
  createDefinitionCache,
  type DefinitionCache,
  type DefinitionVersions,
  type Queryable,
} from "@scrip/postgres";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  DEFAULT_STACKING_RULES,
  type StackingRules,
  resolveStackingRules,
} from "../domain/stacking/stacking-rules.ts";
import { findStackingOptions } from "../store/stacking-rules.ts";

/** Stacking rules of the project, or the defaults. */
export async function loadStackingRules(
  deps: Pick<Deps, "stackingRules">,
  call: Call,
): Promise<StackingRules> {
  return (await deps.stackingRules.get(call.project.id, STACKING_RULES)) ?? DEFAULT_STACKING_RULES;
}

/** Cache key: one entry per project. */
const STACKING_RULES = "";
const MAX_PROJECTS = 10_000;

export function createStackingRulesCache(
  db: Queryable,
  versions: DefinitionVersions,
): DefinitionCache<StackingRules> {
  return createDefinitionCache<StackingRules>({
    versions,
    maxEntries: MAX_PROJECTS,
    load: async (keys) =>
      (await findStackingOptions(db, keys)).map(
        (options) => options && resolveStackingRules(options),
      ),
  });
}
