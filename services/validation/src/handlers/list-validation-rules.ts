import { parsePage } from "@scrip/postgres";
import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { countingEarningRules } from "../loading/assignments.ts";
import { createdRangeFromProto } from "../mapping/created-range.ts";
import { validationRuleToProto } from "../mapping/validation-rule.ts";
import { listRules } from "../store/validation-rules.ts";

export const listValidationRules =
  (deps: Deps): Handler<typeof ValidationRuleService.method.listValidationRules> =>
  async (request, call) => {
    const { rows, total } = await listRules(deps.db, {
      projectId: call.project.id,
      created: createdRangeFromProto(request),
      order: request.order ?? "-created_at",
      ...parsePage(request),
    });
    const counted = await countingEarningRules(deps, call);
    return {
      $typeName: "scrip.validation.v1.ListValidationRulesResponse",
      data: rows.map((row) => validationRuleToProto(counted(row))),
      total,
    };
  };
