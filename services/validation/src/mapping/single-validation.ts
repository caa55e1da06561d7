import type { VoucherValidation } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Call } from "@scrip/rpc";

import type { JudgedRedeemable } from "../domain/decision/decision.ts";
import { singleRefusal } from "../domain/rejections/rejection.ts";
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

/** What the validations of one voucher and of one promotion tier answer alike. */
export function singleValidationToProto(
  judged: JudgedRedeemable,
  { asked, stored }: DecisionContext,
  call: Call,
): SingleValidation {
  if (judged.status === "SKIPPED") throw new Error("a single redeemable cannot be skipped");
  const expand = expandOf(asked);
  const reader = audienceOf(call);
  const explanation = expand.has("explanation") ? explanationToProto(judged, reader) : undefined;
  const beside = {
    ...(judged.bundle !== null && { bundle: bundleToProto(judged.bundle) }),
    ...(explanation !== undefined && { explanation }),
  };
  if (judged.status === "APPLICABLE") {
    const { order } = judged;
    return {
      valid: true,
      hints: [],
      ...(order !== null &&
        asked.order !== undefined && { order: orderToProto(order, asked.order, stored) }),
      ...beside,
    };
  }
  const error = rejectionToProto(singleRefusal(judged.refusal), call.requestId);
  const hints = expand.has("hints") ? hintsToProto(judged.hints, reader) : [];
  return { valid: false, hints, reason: error.message, error, ...beside };
}
