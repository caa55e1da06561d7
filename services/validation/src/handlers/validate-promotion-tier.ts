import { notFound } from "@scrip/errors";
import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { singleRedeemableStacking } from "../domain/stacking/single-redeemable.ts";
import { tierValidationToProto } from "../mapping/promotion-tier-validation.ts";
import { runValidation } from "../validation/run-validation.ts";

export const validatePromotionTier =
  (deps: Deps): Handlers<typeof ValidationService>["validatePromotionTier"] =>
  async (sent, call) => {
    const { tierId } = sent;
    const redeemables = [{ object: "promotion_tier" as const, id: tierId }];
    const input = { ...sent, redeemables };
    const { context, decision, tracking, session } = await runValidation(deps, call, input, {
      stacking: singleRedeemableStacking,
      check: ({ promotions }) => {
        if (!promotions.tiers.has(tierId)) throw notFound("promotion_tier", tierId);
      },
    });
    const [evaluated] = decision.redeemables;
    if (evaluated === undefined) throw new Error("a decision without its redeemable");
    deps.countValidations(call, [evaluated]);
    return {
      ...tierValidationToProto(evaluated, context, { call, tracking }),
      ...(session !== undefined && { session }),
    };
  };
