import { create } from "@bufbuild/protobuf";
import { inTimeRange } from "@scrip/filters";
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
  async ({ createdAt }, { project }) => {
    const row = await findStackingRules(deps.db, project.id);
    const isListed = row !== undefined && inTimeRange(row.created_at, createdAt);
    const data = isListed ? [projectStackingRulesToProto(row)] : [];
    return create(ListStackingRulesResponseSchema, { data, total: BigInt(data.length) });
  };
