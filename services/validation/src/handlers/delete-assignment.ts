import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { notFound } from "@scrip/errors";
import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteAssignment as removeAssignment } from "../store/rule-assignments.ts";

export const deleteAssignment =
  (deps: Deps): Handler<typeof ValidationRuleService.method.deleteAssignment> =>
  async ({ validationRuleId: ruleId, assignmentId: id }, { project }) => {
    const removed = await deps.definitions.write(project.id, (tx) =>
      removeAssignment(tx, project.id, { ruleId, id }),
    );
    if (!removed) throw notFound("validation_rules_assignment", id);
    return create(EmptySchema);
  };
