import { notFound } from "@scrip/errors";
import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { singleRedeemableStacking } from "../domain/stacking/single-redeemable.ts";
import { audienceOf } from "../mapping/explanation.ts";
import { singleRedemptionToProto } from "../mapping/redemptions.ts";
import { runRedemption } from "../redemption/run-redemption.ts";

export const redeemPromotionTier =
  (deps: Deps): Handlers<typeof ValidationService>["redeemPromotionTier"] =>
  async (sent, call) => {
    const { tierId } = sent;
    const redeemables = [{ object: "promotion_tier" as const, id: tierId }];
    const redeemed = await runRedemption(
      deps,
      call,
      { ...sent, redeemables },
      {
        stacking: singleRedeemableStacking,
        check: ({ promotions }) => {
          if (!promotions.tiers.has(tierId)) throw notFound("promotion_tier", tierId);
        },
      },
    );
    return singleRedemptionToProto(redeemed.committed, redeemed.replayData, audienceOf(call));
  };
