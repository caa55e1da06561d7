import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteAssignmentsOfObjects } from "../store/rule-assignments.ts";

export const revokeRules =
  ({ definitions }: Deps): Handler<typeof ValidationRuleService.method.revokeRules> =>
  async ({ items }) => {
    for (const [projectId, ofProject] of Map.groupBy(items, (item) => item.projectId)) {
      const objectIds = ofProject.map((item) => item.relatedObjectId);
      await definitions.write(projectId, (tx) =>
        deleteAssignmentsOfObjects(tx, projectId, objectIds),
      );
    }
    return { $typeName: "scrip.validation.v1.RevokeRulesResponse" };
  };
