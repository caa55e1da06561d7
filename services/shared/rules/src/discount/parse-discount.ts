import { type Decimal, parseDecimal } from "@scrip/money";

import { type Formula, parseFormula } from "../formula/parse.ts";
import type {
  AmountItemEffect,
  DiscountDefinition,
  DiscountEffect,
  DiscountType,
  ItemEffect,
  OrderEffect,
} from "./definition.ts";
import { type UnitDiscount, parseUnits } from "./parse-unit-discount.ts";

type Terms = {
  /** Calculates the value; the static value applies when it cannot. */
  readonly formula: Formula | null;
  /** Per line, or for the order when the effect is on the order. */
  readonly amountLimit: bigint | null;
  /** For all lines together. */
  readonly aggregatedAmountLimit: bigint | null;
};

/** For an effect of null, the scope of the assigned rules determines the effect. */
export type PercentDiscount = Terms & {
  readonly type: "PERCENT";
  readonly effect: OrderEffect | ItemEffect | null;
  readonly percentOff: Decimal;
};

export type AmountDiscount = Terms & {
  readonly type: "AMOUNT";
  readonly effect: OrderEffect | AmountItemEffect | null;
  readonly amountOff: bigint;
};

export type FixedDiscount = Terms & {
  readonly type: "FIXED";
  readonly effect: OrderEffect | ItemEffect | null;
  /** Null if only the prices of `applicable_to` entries determine the discount. */
  readonly fixedAmount: bigint | null;
};

/** A discount that reduces amounts of the order. */
export type MoneyDiscount = PercentDiscount | AmountDiscount | FixedDiscount;

/** A discount that can be calculated: of one type, with its value and a valid effect. */
export type Discount = MoneyDiscount | UnitDiscount;

export type ParsedDiscount =
  | { readonly kind: "discount"; readonly discount: Discount }
  | { readonly kind: "violation"; readonly text: string };

/**
 * Converts a definition to a discount that can be calculated, or returns why it cannot be, in the
 * words of the API. Violations are rejected before storing, so stored discounts always parse.
 */
export function parseDiscount(definition: DiscountDefinition): ParsedDiscount {
  const { type, amountLimit, aggregatedAmountLimit } = definition;
  if (type === "UNIT") return parseUnits(definition);
  for (const limit of [amountLimit, aggregatedAmountLimit]) {
    if (limit !== null && limit < 0n) return violation("Limits of .discount must not be negative");
  }
  const { field, text } = formulaOf(type, definition);
  const parsed = text === null ? null : parseFormula(text);
  if (parsed?.kind === "violation") {
    return violation(`Property .discount.${field} is not a formula: ${parsed.text}`);
  }
  const terms = { formula: parsed?.formula ?? null, amountLimit, aggregatedAmountLimit };
  switch (type) {
    case "PERCENT":
      return parsePercent(definition, terms);
    case "AMOUNT":
      return parseAmount(definition, terms);
    case "FIXED":
      return parseFixed(definition, terms);
    default:
      return type satisfies never;
  }
}

/** The formula of the type, and its field; fields of other types are ignored. */
function formulaOf(
  type: MoneyDiscount["type"],
  definition: DiscountDefinition,
): { readonly field: string; readonly text: string | null } {
  switch (type) {
    case "PERCENT":
      return { field: "percent_off_formula", text: definition.percentOffFormula };
    case "AMOUNT":
      return { field: "amount_off_formula", text: definition.amountOffFormula };
    case "FIXED":
      return { field: "fixed_amount_formula", text: definition.fixedAmountFormula };
    default:
      return type satisfies never;
  }
}

function parsePercent(definition: DiscountDefinition, terms: Terms): ParsedDiscount {
  const { effect } = definition;
  if (effect !== null && effect !== "APPLY_TO_ORDER" && effect !== "APPLY_TO_ITEMS") {
    return unfitting(definition.type, effect);
  }
  if (definition.percentOff === null) return missing("percent_off", "PERCENT");
  const percentOff = parseDecimal(definition.percentOff);
  if (percentOff === undefined || !isPercentage(percentOff)) {
    return violation("Property .discount.percent_off must be a number from 0 to 100");
  }
  return { kind: "discount", discount: { type: "PERCENT", effect, percentOff, ...terms } };
}

function parseAmount(definition: DiscountDefinition, terms: Terms): ParsedDiscount {
  const { effect, amountOff } = definition;
  switch (effect) {
    case null:
    case "APPLY_TO_ORDER":
    case "APPLY_TO_ITEMS":
    case "APPLY_TO_ITEMS_BY_QUANTITY":
    case "APPLY_TO_ITEMS_PROPORTIONALLY":
    case "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY":
      break;
    case "ADD_NEW_ITEMS":
    case "ADD_MISSING_ITEMS":
    case "ADD_MANY_ITEMS":
    case "ADD_SAME_ITEMS":
    case "REPLACE_ITEMS":
      return unfitting(definition.type, effect);
    default:
      return effect satisfies never;
  }
  if (amountOff === null) return missing("amount_off", "AMOUNT");
  if (amountOff < 0n) return violation("Property .discount.amount_off must not be negative");
  return { kind: "discount", discount: { type: "AMOUNT", effect, amountOff, ...terms } };
}

function parseFixed(definition: DiscountDefinition, terms: Terms): ParsedDiscount {
  const { effect, fixedAmount } = definition;
  if (effect !== null && effect !== "APPLY_TO_ORDER" && effect !== "APPLY_TO_ITEMS") {
    return unfitting(definition.type, effect);
  }
  // Rules can be assigned later, and their entries can set the price of each line.
  const isOptional = effect !== "APPLY_TO_ORDER" && terms.formula === null;
  if (fixedAmount === null && !isOptional) return missing("fixed_amount", "FIXED");
  if (fixedAmount !== null && fixedAmount < 0n)
    return violation("Property .discount.fixed_amount must not be negative");
  return { kind: "discount", discount: { type: "FIXED", effect, fixedAmount, ...terms } };
}

const isPercentage = (value: Decimal): boolean =>
  value.unscaled >= 0n && value.unscaled <= 100n * 10n ** BigInt(value.scale);

const violation = (text: string): ParsedDiscount => ({ kind: "violation", text });

const missing = (field: string, type: DiscountType): ParsedDiscount =>
  violation(`Property .discount.${field} is required for a discount of type ${type}`);

const unfitting = (type: DiscountType, effect: DiscountEffect): ParsedDiscount =>
  violation(`Effect ${effect} is not available for a discount of type ${type}`);
