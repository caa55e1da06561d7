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

const ORDERS: Readonly<Record<string, string>> = {
  created_at: "created_at, id",
  "-created_at": "created_at desc, id desc",
  updated_at: "coalesce(updated_at, created_at), id",
  "-updated_at": "coalesce(updated_at, created_at) desc, id desc",
};

export const listEarningRules =
  (deps: Deps): Handler<typeof EarningRuleService.method.listEarningRules> =>
  async (request, { project }) => {
    const { rules, total } = await list(deps.db, {
      projectId: project.id,
      campaignId: request.campaignId,
      createdAt: request.createdAt,
      order: ORDERS[request.order ?? "-created_at"] ?? "id",
      ...parsePage(request),
    });
    return create(ListEarningRulesResponseSchema, { data: rules.map(earningRuleToProto), total });
  };
