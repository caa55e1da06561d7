import { notFound } from "@scrip/errors";
import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { resolveStackKey } from "../promotion/stack-key.ts";
import { deleteStack } from "../store/promotion-stacks.ts";

export const deletePromotionStack =
  (deps: Deps): Handler<typeof PromotionService.method.deletePromotionStack> =>
  async (request, { project }) => {
    const key = await resolveStackKey(deps.db, project.id, request);
    await deps.definitions.write(project.id, async (tx) => {
      if ((await deleteStack(tx, key)) === "not_found") {
        throw notFound("promotion_stack", request.stackId);
      }
    });
    return { $typeName: "google.protobuf.Empty" };
  };
