import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findRulesReferencing } from "../store/validation-rules.ts";

export const listRulesReferencing =
  ({ db }: Deps): Handler<typeof ValidationRuleService.method.listRulesReferencing> =>
  async ({ id }, { project }) => {
    const { ids, total } = await findRulesReferencing(db, project.id, id);
    return {
      $typeName: "scrip.validation.v1.ListRulesReferencingResponse",
      ruleIds: [...ids],
      total,
    };
  };
