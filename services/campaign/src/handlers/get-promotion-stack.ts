import { notFound } from "@scrip/errors";
import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { stackToProto } from "../mapping/promotion-stack.ts";
import { resolveStackKey } from "../promotion/stack-key.ts";
import { findStack } from "../store/promotion-stacks.ts";

export const getPromotionStack =
  (deps: Deps): Handler<typeof PromotionService.method.getPromotionStack> =>
  async (request, { project }) => {
    const key = await resolveStackKey(deps.db, project.id, request);
    const record = await findStack(deps.db, key);
    if (record === undefined) throw notFound("promotion_stack", request.stackId);
    return stackToProto(record);
  };
