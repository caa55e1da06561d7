import { timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  AssignRulesOutcome,
  AssignRulesItem,
  ValidationRuleService,
} from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { type AssignmentRow, insertAssignments } from "../store/rule-assignments.ts";
import { lockRulesAgainstDeletion } from "../store/validation-rules.ts";

export const assignRules =
  (deps: Deps): Handler<typeof ValidationRuleService.method.assignRules> =>
  async ({ items }) => {
    const unknown = new Map<AssignRulesItem, string>();
    for (const [projectId, ofProject] of Map.groupBy(items, (item) => item.projectId)) {
      const found = await assignInProject(deps, projectId, ofProject);
      for (const [item, ruleId] of found) unknown.set(item, ruleId);
    }
    return {
      $typeName: "scrip.validation.v1.AssignRulesResponse",
      outcomes: items.map((item): AssignRulesOutcome => {
        const unknownRuleId = unknown.get(item);
        return {
          $typeName: "scrip.validation.v1.AssignRulesOutcome",
          ...(unknownRuleId !== undefined && { unknownRuleId }),
        };
      }),
    };
  };

/** Returns the items that reference an unknown rule, with the id of that rule. */
const assignInProject = (
  { definitions, newId }: Deps,
  projectId: string,
  items: readonly AssignRulesItem[],
): Promise<ReadonlyMap<AssignRulesItem, string>> =>
  definitions.write(projectId, async (tx) => {
    const known = await lockRulesAgainstDeletion(tx, projectId, [
      ...new Set(items.flatMap((it) => it.ruleIds)),
    ]);
    const unknown = new Map<AssignRulesItem, string>();
    for (const item of items) {
      const ruleId = item.ruleIds.find((id) => !known.has(id));
      if (ruleId !== undefined) unknown.set(item, ruleId);
    }
    const rows = items
      .filter((item) => !unknown.has(item))
      .flatMap((item) => toRows(item, () => newId("asgm")));
    if (rows.length > 0) await insertAssignments(tx, projectId, rows);
    return unknown;
  });

const toRows = (item: AssignRulesItem, newId: () => string): AssignmentRow[] =>
  [...new Set(item.ruleIds)].map((ruleId) => ({
    id: newId(),
    rule_id: ruleId,
    object_type: item.relatedObjectType,
    object_id: item.relatedObjectId,
    created_at: item.now === undefined ? new Date(0) : timestampDate(item.now),
  }));
