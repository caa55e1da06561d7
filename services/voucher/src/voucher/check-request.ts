import { isPrintable } from "@scrip/codes";
import { RESERVED_WORDS } from "@scrip/contract";
import { invalidPayload, ApiError } from "@scrip/errors";
import { parseDiscountProto } from "@scrip/mapping";
import type { Discount } from "@scrip/proto/scrip/common/v1/discount_pb";
import { checkValidity, type DiscountDefinition, type Validity } from "@scrip/rules";

/** Rejects time limits that contradict each other (docs/time-limits.md#start-and-expiration). */
export function requireValidity(validity: Validity): void {
  const violation = checkValidity(validity);
  if (violation === null) return;
  // Contradicting dates make the voucher invalid; malformed recurring limits make the payload invalid.
  if (violation.includes(".expiration_date")) throw invalidVoucher(violation);
  throw invalidPayload(violation);
}

/** Rejects a discount that no order calculation can apply (docs/order-calculation.md#discount-object). */
export function requireDiscount(discount: Discount): DiscountDefinition {
  const read = parseDiscountProto(discount);
  if (read.kind === "violation") throw invalidVoucher(read.text);
  return read.definition;
}

/** Operations that older clients send to `POST /v1/vouchers/<word>`, which would create a voucher. */
const OPERATIONS: ReadonlySet<string> = new Set(["publish", "enable", "disable"]);

/** Whether a path can name the code; generated ones are printable. */
export const isUsableCode = (code: string): boolean =>
  !RESERVED_WORDS.has(code) && !OPERATIONS.has(code);

/** Rejects a code that no caller could send, or that no path could name. */
export function requireUsableCode(code: string): void {
  if (!isPrintable(code)) {
    throw invalidPayload("Property .code must not contain control characters");
  }
  if (!isUsableCode(code)) {
    throw invalidPayload(`Property .code must not be "${code}": it is reserved in paths`);
  }
}

export const invalidVoucher = (details: string): ApiError =>
  new ApiError("invalid_voucher", { details });
