import { fromBinary } from "@bufbuild/protobuf";
import { notFound } from "@scrip/errors";
import { instantToProto } from "@scrip/mapping";
import {
  ExplanationSchema,
  type RedeemableExplanation,
} from "@scrip/proto/scrip/common/v1/explanation_pb";
import type { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findExplanations } from "../store/explanations.ts";
import { findRedemption } from "../store/redemptions.ts";

/** A parent redemption returns the explanations of all its parts. */
export const getExplanation =
  (deps: Deps): Handler<typeof RedemptionService.method.getExplanation> =>
  async ({ redemptionId }, call) => {
    const projectId = call.project.id;
    const redemption = await findRedemption(deps.db, projectId, redemptionId);
    if (redemption === undefined) throw notFound("redemption", redemptionId);
    const explanations = await findExplanations(deps.db, projectId, redemptionId);
    return {
      $typeName: "scrip.common.v1.RedemptionExplanation",
      redemptionId,
      date: instantToProto(redemption.createdAt),
      redeemables: explanations.map(({ id, code, tierId, explanation }): RedeemableExplanation => ({
        $typeName: "scrip.common.v1.RedeemableExplanation",
        id: code ?? tierId ?? "",
        object: code === null ? "promotion_tier" : "voucher",
        redemptionId: id,
        explanation: fromBinary(ExplanationSchema, explanation),
      })),
    };
  };
