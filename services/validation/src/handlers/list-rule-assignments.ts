import { parsePage } from "@scrip/postgres";
import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { listAllAssignments } from "../loading/assignments.ts";
import { createdRangeFromProto } from "../mapping/created-range.ts";
import { assignmentListToProto } from "../mapping/validation-rule.ts";

export const listRuleAssignments =
  (deps: Deps): Handler<typeof ValidationRuleService.method.listRuleAssignments> =>
  async (request, call) =>
    assignmentListToProto(
      await listAllAssignments(deps, call, {
        ruleId: request.validationRuleId,
        created: createdRangeFromProto(request),
        order: request.order ?? "-created_at",
        ...parsePage(request),
      }),
    );
