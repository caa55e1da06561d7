import { discountFromProto } from "@scrip/mapping";
import type { Discount as DiscountProto } from "@scrip/proto/scrip/common/v1/discount_pb";
import { type Discount, parseDiscount } from "@scrip/rules";

/**
 * Parsed discounts by message. In one process the voucher and campaign services return the same
 * message for each version of a cached definition, so that a definition is parsed once per version.
 * From another process each message is new: parsing takes about a microsecond then, less than a key of
 * the content, because formulas are cached by their text in every process.
 */
const parsedDiscounts = new WeakMap<DiscountProto, Discount>();

/** The discount of a voucher or promotion tier in the form that is calculated with. */
export function parsedDiscountFromProto(
  discount: DiscountProto | undefined,
  ownerId: string,
): Discount | null {
  if (discount === undefined) return null;
  const cached = parsedDiscounts.get(discount);
  if (cached !== undefined) return cached;
  const definition = discountFromProto(discount);
  if (definition === undefined) throw new Error(`a discount of unknown type ${discount.type}`);
  const parsed = parseDiscount(definition);
  // Discounts are checked before they are stored, so this is a bug.
  if (parsed.kind === "violation") throw new Error(`the discount of ${ownerId}: ${parsed.text}`);
  parsedDiscounts.set(discount, parsed.discount);
  return parsed.discount;
}
