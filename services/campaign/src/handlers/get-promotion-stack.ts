import { notFound } from "@scrip/errors";
import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { toStack } from "../mapping/promotion.ts";
import { stackNameOf } from "../promotion/stack-key.ts";
import { findStack } from "../store/promotion-stacks.ts";

export const getPromotionStack =
  (deps: Deps): Handler<typeof PromotionService.method.getPromotionStack> =>
  async (request, { project }) => {
    const name = await stackNameOf(deps.db, project.id, request);
    const record = await findStack(deps.db, name);
    if (record === undefined) throw notFound("promotion_stack", request.stackId);
    return toStack(record);
  };
