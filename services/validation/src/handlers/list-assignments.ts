import { parsePage } from "@scrip/postgres";
import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { createdRangeFromProto } from "../mapping/created-range.ts";
import { assignmentListToProto } from "../mapping/validation-rule.ts";
import { listAssignments as findPage } from "../store/rule-assignments.ts";

export const listAssignments =
  (deps: Deps): Handler<typeof ValidationRuleService.method.listAssignments> =>
  async (request, { project }) =>
    assignmentListToProto(
      await findPage(deps.db, {
        projectId: project.id,
        ruleId: request.rule,
        objectId: request.relatedObjectId,
        created: createdRangeFromProto(request),
        order: request.order ?? "-created_at",
        ...parsePage(request),
      }),
    );
