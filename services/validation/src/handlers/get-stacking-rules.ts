import { notFound } from "@scrip/errors";
import type { StackingRulesService } from "@scrip/proto/scrip/validation/v1/stacking_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { projectStackingRulesToProto } from "../mapping/stacking-rules.ts";
import { findStackingRules } from "../store/stacking-rules.ts";

export const getStackingRules =
  (deps: Deps): Handler<typeof StackingRulesService.method.getStackingRules> =>
  async ({ stackingRulesId }, { project }) => {
    const row = await findStackingRules(deps.db, project.id);
    if (row?.id !== stackingRulesId) throw notFound("stacking_rules", stackingRulesId);
    return projectStackingRulesToProto(row);
  };
