import { notFound } from "@scrip/errors";
import { parsePage } from "@scrip/postgres";
import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { createdRangeFromProto } from "../mapping/created-range.ts";
import { assignmentListToProto } from "../mapping/validation-rule.ts";
import { listAssignments } from "../store/rule-assignments.ts";
import { findRule } from "../store/validation-rules.ts";

export const listRuleAssignments =
  (deps: Deps): Handler<typeof ValidationRuleService.method.listRuleAssignments> =>
  async (request, { project }) => {
    const ruleId = request.validationRuleId;
    const page = parsePage(request);
    if ((await findRule(deps.db, project.id, ruleId)) === undefined) {
      throw notFound("validation_rules", ruleId);
    }
    return assignmentListToProto(
      await listAssignments(deps.db, {
        projectId: project.id,
        ruleId,
        created: createdRangeFromProto(request),
        order: request.order ?? "-created_at",
        ...page,
      }),
    );
  };
