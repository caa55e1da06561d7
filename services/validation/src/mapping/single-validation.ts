import type { VoucherValidation } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Call } from "@scrip/rpc";

import type { JudgedRedeemable } from "../domain/decision/decision.ts";
import { singleRefusal } from "../domain/rejections/rejection.ts";
import type { Gathered } from "../loading/decision-context.ts";
import { bundleMessage } from "./bundle.ts";
import { expandOf } from "./decision-input.ts";
import { errorMessage } from "./error.ts";
import { explanationOf, readerOf } from "./explanation.ts";
import { hintMessages } from "./hints.ts";
import { orderMessage } from "./order.ts";

export type SingleResult = Pick<
  VoucherValidation,
  "valid" | "hints" | "order" | "reason" | "error" | "bundle" | "explanation"
>;

/** What the validations of one voucher and of one promotion tier answer alike. */
export function singleResult(
  judged: JudgedRedeemable,
  { asked, stored }: Gathered,
  call: Call,
): SingleResult {
  if (judged.status === "SKIPPED") throw new Error("a single redeemable cannot be skipped");
  const expand = expandOf(asked);
  const reader = readerOf(call);
  const explanation = expand.has("explanation") ? explanationOf(judged, reader) : undefined;
  const beside = {
    ...(judged.bundle !== null && { bundle: bundleMessage(judged.bundle) }),
    ...(explanation !== undefined && { explanation }),
  };
  if (judged.status === "APPLICABLE") {
    const { order } = judged;
    return {
      valid: true,
      hints: [],
      ...(order !== null &&
        asked.order !== undefined && { order: orderMessage(order, asked.order, stored) }),
      ...beside,
    };
  }
  const error = errorMessage(singleRefusal(judged.refusal), call.requestId);
  const hints = expand.has("hints") ? hintMessages(judged.hints, reader) : [];
  return { valid: false, hints, reason: error.message, error, ...beside };
}
