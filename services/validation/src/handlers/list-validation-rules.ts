import { parsePage } from "@scrip/postgres";
import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { createdRangeFromProto } from "../mapping/created-range.ts";
import { validationRuleToProto } from "../mapping/validation-rule.ts";
import { listRules } from "../store/validation-rules.ts";

export const listValidationRules =
  (deps: Deps): Handler<typeof ValidationRuleService.method.listValidationRules> =>
  async (request, { project }) => {
    const { rows, total } = await listRules(deps.db, {
      projectId: project.id,
      created: createdRangeFromProto(request),
      order: request.order ?? "-created_at",
      ...parsePage(request),
    });
    return {
      $typeName: "scrip.validation.v1.ListValidationRulesResponse",
      data: rows.map(validationRuleToProto),
      total,
    };
  };
