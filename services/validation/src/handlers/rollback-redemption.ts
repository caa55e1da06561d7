import { Refusal } from "@scrip/errors";
import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";

export const rollbackRedemption =
  (_deps: Deps): Handlers<typeof ValidationService>["rollbackRedemption"] =>
  async () => {
    throw new Refusal("not_implemented");
  };
