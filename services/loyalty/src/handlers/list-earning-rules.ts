import { create } from "@bufbuild/protobuf";
import { parsePage } from "@scrip/postgres";
import {
  type EarningRuleService,
  ListEarningRulesResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { earningRuleToProto } from "../mapping/earning-rule.ts";
import { listEarningRules as list } from "../store/earning-rules.ts";
import { orderByTime } from "../store/order-by-time.ts";

export const listEarningRules =
  (deps: Deps): Handler<typeof EarningRuleService.method.listEarningRules> =>
  async (request, { project }) => {
    const { rules, total } = await list(deps.db, {
      projectId: project.id,
      campaignId: request.campaignId,
      createdAt: request.createdAt,
      order: orderByTime(request.order),
      ...parsePage(request),
    });
    return create(ListEarningRulesResponseSchema, { data: rules.map(earningRuleToProto), total });
  };
