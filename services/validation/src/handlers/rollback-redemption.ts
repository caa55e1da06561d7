import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { runRollback } from "../rollback/run-rollback.ts";

export const rollbackRedemption =
  (deps: Deps): Handlers<typeof ValidationService>["rollbackRedemption"] =>
  async (request, call) => {
    const { rollbacks } = await runRollback(deps, call, { ...request, stacked: false });
    const [rollback] = rollbacks;
    if (rollback === undefined) throw new Error("a commit returned no rollback");
    return rollback;
  };
