import { invalidPayload, ApiError } from "@scrip/errors";
import { parseDiscountProto } from "@scrip/mapping";
import type { Discount } from "@scrip/proto/scrip/common/v1/discount_pb";
import { checkValidity, type DiscountDefinition, type Validity } from "@scrip/rules";

/** Parts of requests that campaigns and promotion tiers share. */

/** Refuses time limits that contradict themselves. */
export function requireValidity(validity: Validity): void {
  const violation = checkValidity(validity);
  if (violation === null) return;
  // Dates are a campaign's parameters; the recurring limits are malformed as such.
  if (violation.includes(".expiration_date")) throw invalidParams(violation);
  throw invalidPayload(violation);
}

/** Refuses a discount that no decision could apply, as vouchers do. */
export function requireDiscount(discount: Discount): DiscountDefinition {
  const read = parseDiscountProto(discount);
  if (read.kind === "violation") throw new ApiError("invalid_voucher", { details: read.text });
  return read.definition;
}

export const invalidCampaign = (details: string): ApiError =>
  new ApiError("invalid_campaign", { details });

export const invalidParams = (details: string): ApiError =>
  new ApiError("invalid_campaign_params", { details });
