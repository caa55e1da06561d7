import { invalidPayload, ApiError } from "@scrip/errors";
import { parseDiscountProto } from "@scrip/mapping";
import type { Discount } from "@scrip/proto/scrip/common/v1/discount_pb";
import { checkValidity, type DiscountDefinition, type Validity } from "@scrip/rules";

/** Parts of requests that creating and updating a voucher share. */

/** Refuses time limits that contradict themselves. */
export function requireValidity(validity: Validity): void {
  const violation = checkValidity(validity);
  if (violation === null) return;
  // Dates are the voucher's own business; the recurring limits are malformed as such (§4.3, §4.5).
  if (violation.includes(".expiration_date")) throw invalidVoucher(violation);
  throw invalidPayload(violation);
}

/** Refuses a discount that no decision could apply. */
export function requireDiscount(discount: Discount): DiscountDefinition {
  const read = parseDiscountProto(discount);
  if (read.kind === "violation") throw invalidVoucher(read.text);
  return read.definition;
}

export const invalidVoucher = (details: string): ApiError =>
  new ApiError("invalid_voucher", { details });
