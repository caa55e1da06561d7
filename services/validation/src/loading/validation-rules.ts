import {
  createDefinitionCache,
  type DefinitionCache,
  type DefinitionVersions,
  type Queryable,
  UnreadableDefinition,
} from "@scrip/postgres";
import type { Call } from "@scrip/rpc";
import { parseValidationRule, type ValidationRule } from "@scrip/rules";

import { ruleDefinitionFromRow } from "../store/rule-definition.ts";
import { findRuleContents } from "../store/validation-rules.ts";
import {
  type AssignmentCaches,
  loadAssignments,
  createAssignmentCaches,
} from "./rule-assignments.ts";

/** Caches of validation rules and their assignments. */
export type RuleCaches = AssignmentCaches & { readonly rules: DefinitionCache<ValidationRule> };

/** A rule takes up to a few kilobytes. */
const MAX_RULES = 10_000;

export const createRuleCaches = (db: Queryable, versions: DefinitionVersions): RuleCaches => ({
  ...createAssignmentCaches(db, versions),
  rules: createDefinitionCache({
    versions,
    maxEntries: MAX_RULES,
    load: async (keys) =>
      (await findRuleContents(db, keys)).map(
        (content, index) =>
          content && parsed(ruleDefinitionFromRow(keys[index]?.key ?? "", content)),
      ),
  }),
});

/**
 * Parsed rules of vouchers, campaigns and promotion tiers, by object id and in the order of their
 * assignment; objects without rules are omitted. Cached rules need no query, all others share one.
 */
export async function loadValidationRules(
  { ruleCaches }: { readonly ruleCaches: RuleCaches },
  { project }: Pick<Call, "project">,
  objectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly ValidationRule[]>> {
  const assignments = await loadAssignments(ruleCaches, project.id, objectIds);
  if (assignments.size === 0) return NONE;
  const ids = [...assignments.values()].flatMap((rows) => rows.map((row) => row.rule_id));
  const rules = await ruleCaches.rules.getMany(project.id, [...new Set(ids)]);
  const context = new Map<string, readonly ValidationRule[]>();
  for (const [objectId, rows] of assignments) {
    // A deleted rule has no assignments left.
    const own = rows.flatMap((row) => rules.get(row.rule_id) ?? []);
    if (own.length > 0) context.set(objectId, own);
  }
  return context;
}

const NONE: ReadonlyMap<string, readonly ValidationRule[]> = new Map();

/**
 * Rules are checked before they are stored. Ignoring an unreadable one would grant discounts, so it
 * is an error.
 */
function parsed(
  definition: Parameters<typeof parseValidationRule>[0],
): ValidationRule | UnreadableDefinition {
  const result = parseValidationRule(definition);
  if (result.kind === "rule") return result.rule;
  return new UnreadableDefinition(
    `validation rule ${definition.id} cannot be read: ${result.text}`,
  );
}
