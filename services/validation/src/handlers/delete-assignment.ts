import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { notFound } from "@scrip/errors";
import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteAssignment as removeAssignment } from "../store/rule-assignments.ts";

export const deleteAssignment =
  (deps: Deps): Handler<typeof ValidationRuleService.method.deleteAssignment> =>
  async ({ validationRuleId: ruleId, assignmentId: id }, call) => {
    const projectId = call.project.id;
    const removed = await deps.definitions.write(projectId, (tx) =>
      removeAssignment(tx, projectId, { ruleId, id }),
    );
    if (!removed && !(await unassign(deps, call, { ruleId, id }))) {
      throw notFound("validation_rules_assignment", id);
    }
    return create(EmptySchema);
  };

/** Returns whether an earning rule had the assignment. */
const unassign = (
  { clients }: Deps,
  call: Call,
  { ruleId, id }: { readonly ruleId: string; readonly id: string },
): Promise<boolean> =>
  clients.unassignFromEarningRule({ validationRuleId: ruleId, assignmentId: id }, call);
