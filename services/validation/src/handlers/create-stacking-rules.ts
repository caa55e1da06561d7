import { ApiError } from "@scrip/errors";
import type { StackingRulesService } from "@scrip/proto/scrip/validation/v1/stacking_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { referencedCategories } from "../domain/stacking/stacking-rules.ts";
import { projectStackingRulesToProto, updatedStackingOptions } from "../mapping/stacking-rules.ts";
import { rejectContradiction, rejectUnknownCategories } from "../rules/stacking-options.ts";
import { insertStackingRules, type StackingRulesRow } from "../store/stacking-rules.ts";

export const createStackingRules =
  (deps: Deps): Handler<typeof StackingRulesService.method.createStackingRules> =>
  async (request, call) => {
    const options = updatedStackingOptions({}, request);
    rejectContradiction(options);
    await rejectUnknownCategories(deps, call, referencedCategories(options));

    const row: StackingRulesRow = {
      id: deps.newId("stcr"),
      options,
      created_at: new Date(call.now),
      updated_at: null,
    };
    const projectId = call.project.id;
    const isFirst = await deps.definitions.write(projectId, (tx) =>
      insertStackingRules(tx, projectId, row),
    );
    if (!isFirst) {
      throw new ApiError("stacking_rules_exist", {
        details: "Cannot exist more stacking rules for given project",
      });
    }
    return projectStackingRulesToProto(row);
  };
