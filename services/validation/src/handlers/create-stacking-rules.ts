import { Refusal } from "@scrip/errors";
import type { StackingRulesService } from "@scrip/proto/scrip/validation/v1/stacking_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { insertStackingRules, type StackingRulesRow } from "../store/stacking-rules.ts";
import { changedOptions, checkOptions } from "./stacking-options.ts";
import { toProjectStackingRules } from "./stacking-rules-message.ts";

export const createStackingRules =
  (deps: Deps): Handler<typeof StackingRulesService.method.createStackingRules> =>
  async (request, call) => {
    const options = changedOptions({}, request);
    await checkOptions(deps, call, { before: {}, after: options });

    const row: StackingRulesRow = {
      id: deps.newId("stcr"),
      options,
      created_at: new Date(call.now),
      updated_at: null,
    };
    if (!(await insertStackingRules(deps.db, call.project.id, row))) {
      throw new Refusal("stacking_rules_exist", {
        details: "Cannot exist more stacking rules for given project",
      });
    }
    return toProjectStackingRules(row);
  };
