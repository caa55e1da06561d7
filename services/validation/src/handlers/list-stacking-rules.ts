import { create } from "@bufbuild/protobuf";
import {
  ListStackingRulesResponseSchema,
  type StackingRulesService,
} from "@scrip/proto/scrip/validation/v1/stacking_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { projectStackingRulesToProto } from "../mapping/stacking-rules.ts";
import { findStackingRules } from "../store/stacking-rules.ts";

export const listStackingRules =
  (deps: Deps): Handler<typeof StackingRulesService.method.listStackingRules> =>
  async (_, { project }) => {
    const row = await findStackingRules(deps.db, project.id);
    const data = row === undefined ? [] : [projectStackingRulesToProto(row)];
    return create(ListStackingRulesResponseSchema, { data, total: BigInt(data.length) });
  };
