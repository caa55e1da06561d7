import type { Queryable } from "@scrip/postgres";
import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { withoutCategories } from "../domain/stacking/stacking-rules.ts";
import { deleteAssignmentsOfObjects } from "../store/rule-assignments.ts";
import { lockStackingRules, updateStackingRules } from "../store/stacking-rules.ts";

export const revokeRules =
  ({ definitions }: Deps): Handler<typeof ValidationRuleService.method.revokeRules> =>
  async ({ items }) => {
    for (const [projectId, ofProject] of Map.groupBy(items, (item) => item.projectId)) {
      const objectIds = ofProject.map((item) => item.relatedObjectId);
      await definitions.write(projectId, async (tx) => {
        await deleteAssignmentsOfObjects(tx, projectId, objectIds);
        await removeDeletedCategories(tx, projectId, objectIds.filter(isCategory));
      });
    }
    return { $typeName: "scrip.validation.v1.RevokeRulesResponse" };
  };

const isCategory = (id: string): boolean => id.startsWith("cat_");

async function removeDeletedCategories(
  tx: Queryable,
  projectId: string,
  deletedIds: readonly string[],
): Promise<void> {
  if (deletedIds.length === 0) return;
  const stored = await lockStackingRules(tx, projectId);
  if (stored === undefined) return;
  const options = withoutCategories(stored.options, new Set(deletedIds));
  if (options === undefined) return;
  await updateStackingRules(tx, projectId, { ...stored, options });
}
