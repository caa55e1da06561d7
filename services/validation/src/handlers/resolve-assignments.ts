import type {
  AssignmentsResult,
  AssignmentsQuery,
  ValidationRuleService,
} from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { loadAssignments } from "../loading/rule-assignments.ts";
import { assignmentToProto } from "../mapping/assignment.ts";

export const resolveAssignments =
  (deps: Deps): Handler<typeof ValidationRuleService.method.resolveAssignments> =>
  async ({ queries }) => ({
    $typeName: "scrip.validation.v1.ResolveAssignmentsResponse",
    results: await Promise.all(queries.map((query) => result(deps, query))),
  });

async function result(
  { ruleCaches }: Deps,
  { projectId, relatedObjectIds }: AssignmentsQuery,
): Promise<AssignmentsResult> {
  const found = await loadAssignments(ruleCaches, projectId, relatedObjectIds);
  return {
    $typeName: "scrip.validation.v1.AssignmentsResult",
    assignments: [...new Set(relatedObjectIds)].flatMap((id) =>
      (found.get(id) ?? []).map(assignmentToProto),
    ),
  };
}
