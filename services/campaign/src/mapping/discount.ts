import { ApiError } from "@scrip/errors";
import { parseDiscountProto } from "@scrip/mapping";
import type { Discount } from "@scrip/proto/scrip/common/v1/discount_pb";
import type { DiscountDefinition } from "@scrip/rules";

/** Rejects a discount that no decision could apply, with the same key as the voucher service. */
export function parseDiscount(discount: Discount): DiscountDefinition {
  const read = parseDiscountProto(discount);
  if (read.kind === "violation") throw new ApiError("invalid_voucher", { details: read.text });
  return read.definition;
}
