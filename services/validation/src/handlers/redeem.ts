import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { refOf } from "../mapping/decision-input.ts";
import { readerOf } from "../mapping/explanation.ts";
import { redemptionsMessage } from "../mapping/redemptions.ts";
import { redeemAsked } from "../redemption/run-redemption.ts";

export const redeem =
  (deps: Deps): Handlers<typeof ValidationService>["redeem"] =>
  async (sent, call) => {
    const asked = { ...sent, redeemables: sent.redeemables.map(refOf) };
    const { made, note } = await redeemAsked(deps, call, asked);
    return redemptionsMessage(made, note, readerOf(call));
  };
