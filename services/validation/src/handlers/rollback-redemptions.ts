import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { runRollback } from "../rollback/run-rollback.ts";

export const rollbackRedemptions =
  (deps: Deps): Handlers<typeof ValidationService>["rollbackRedemptions"] =>
  async (request, call) => {
    const { rollbacks, parentRollback } = await runRollback(deps, call, {
      ...request,
      stacked: true,
    });
    const order = (parentRollback ?? rollbacks[0])?.order;
    return {
      $typeName: "scrip.validation.v1.Rollbacks",
      rollbacks,
      ...(parentRollback !== undefined && { parentRollback }),
      ...(order !== undefined && { order }),
    };
  };
