import { Refusal } from "@scrip/errors";
import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";

export const redeem =
  (_deps: Deps): Handlers<typeof ValidationService>["redeem"] =>
  async () => {
    throw new Refusal("not_implemented");
  };
