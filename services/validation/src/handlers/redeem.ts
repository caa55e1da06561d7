import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { redeemableInputFromProto } from "../mapping/decision-input.ts";
import { audienceOf } from "../mapping/explanation.ts";
import { redemptionsToProto } from "../mapping/redemptions.ts";
import { runRedemption } from "../redemption/run-redemption.ts";

export const redeem =
  (deps: Deps): Handlers<typeof ValidationService>["redeem"] =>
  async (sent, call) => {
    const input = { ...sent, redeemables: sent.redeemables.map(redeemableInputFromProto) };
    const { committed, replayData } = await runRedemption(deps, call, input);
    return redemptionsToProto(committed, replayData, audienceOf(call));
  };
