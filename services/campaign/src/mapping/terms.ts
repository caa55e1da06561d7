import { invalidPayload, Refusal } from "@scrip/errors";
import type { Discount } from "@scrip/proto/scrip/common/v1/discount_pb";
import { checkValidity, type DiscountDefinition, type Validity } from "@scrip/rules";
import { readDiscount } from "@scrip/terms";

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
  const read = readDiscount(discount);
  if (read.kind === "violation") throw new Refusal("invalid_voucher", { details: read.text });
  return read.definition;
}

export const invalidCampaign = (details: string): Refusal =>
  new Refusal("invalid_campaign", { details });

export const invalidParams = (details: string): Refusal =>
  new Refusal("invalid_campaign_params", { details });
