import type { VoucherValidation } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Call } from "@scrip/rpc";

import type { EvaluatedRedeemable } from "../domain/decision/decision.ts";
import { singleRedeemableRejection } from "../domain/rejections/rejection.ts";
import { bundleToProto } from "./bundle.ts";
import type { DecisionContext } from "./decision-context.ts";
import { expandOf } from "./decision-input.ts";
import { rejectionToProto } from "./error.ts";
import { explanationToProto, audienceOf } from "./explanation.ts";
import { hintsToProto } from "./hints.ts";
import { orderToProto } from "./order.ts";

export type SingleValidation = Pick<
  VoucherValidation,
  "valid" | "hints" | "order" | "reason" | "error" | "bundle" | "explanation"
>;

/** The parts that validations of one voucher and of one promotion tier share. */
export function singleValidationToProto(
  evaluated: EvaluatedRedeemable,
  { input, storedOrder }: DecisionContext,
  call: Call,
): SingleValidation {
  if (evaluated.status === "SKIPPED") throw new Error("a single redeemable cannot be skipped");
  const expand = expandOf(input);
  const audience = audienceOf(call);
  const explanation = expand.has("explanation")
    ? explanationToProto(evaluated, audience)
    : undefined;
  const beside = {
    ...(evaluated.bundle !== null && { bundle: bundleToProto(evaluated.bundle) }),
    ...(explanation !== undefined && { explanation }),
  };
  if (evaluated.status === "APPLICABLE") {
    const { order } = evaluated;
    return {
      valid: true,
      hints: [],
      ...(order !== null &&
        input.order !== undefined && { order: orderToProto(order, input.order, storedOrder) }),
      ...beside,
    };
  }
  const error = rejectionToProto(singleRedeemableRejection(evaluated.rejection), call.requestId);
  const hints = expand.has("hints") ? hintsToProto(evaluated.hints, audience) : [];
  return { valid: false, hints, reason: error.message, error, ...beside };
}
