import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import {
  type Discount,
  DiscountEffect,
  DiscountSchema,
  DiscountType,
  type UnitDiscount,
} from "@scrip/proto/scrip/common/v1/discount_pb";
import { type DiscountDefinition, parseDiscount, type UnitDefinition } from "@scrip/rules";

import { enumName } from "./enum-name.ts";

export type ParsedDiscountProto =
  | { readonly kind: "definition"; readonly definition: DiscountDefinition }
  /** Why the discount cannot be applied, in the words of the API. */
  | { readonly kind: "violation"; readonly text: string };

/** Converts and checks a discount of a request. */
export function parseDiscountProto(discount: Discount): ParsedDiscountProto {
  const definition = discountFromProto(discount);
  if (definition === undefined) {
    return { kind: "violation", text: "Property .discount.type is required" };
  }
  const parsed = parseDiscount(definition);
  return parsed.kind === "violation" ? parsed : { kind: "definition", definition };
}

/**
 * Converts the message without checks; undefined without a type. Values of other types are dropped,
 * so that no stored value is ignored.
 */
export function discountFromProto(discount: Discount): DiscountDefinition | undefined {
  const type = enumName(DiscountType, discount.type);
  if (type === undefined) return undefined;
  const own = <Value>(of: DiscountDefinition["type"], value: Value | undefined): Value | null =>
    type === of ? (value ?? null) : null;
  return {
    type,
    effect: enumName(DiscountEffect, discount.effect) ?? null,
    percentOff: own("PERCENT", discount.percentOff),
    percentOffFormula: own("PERCENT", discount.percentOffFormula),
    amountOff: own("AMOUNT", discount.amountOff),
    amountOffFormula: own("AMOUNT", discount.amountOffFormula),
    fixedAmount: own("FIXED", discount.fixedAmount),
    fixedAmountFormula: own("FIXED", discount.fixedAmountFormula),
    amountLimit: type === "UNIT" ? null : (discount.amountLimit ?? null),
    aggregatedAmountLimit: type === "UNIT" ? null : (discount.aggregatedAmountLimit ?? null),
    unitOff: own("UNIT", discount.unitOff),
    unitOffFormula: own("UNIT", discount.unitOffFormula),
    unitType: own("UNIT", discount.unitType),
    units: type === "UNIT" ? discount.units.map(unitDefinition) : [],
  };
}

/** An element without an effect has the default effect. */
function unitDefinition(unit: UnitDiscount): UnitDefinition {
  return {
    effect: enumName(DiscountEffect, unit.effect) ?? "ADD_MISSING_ITEMS",
    unitOff: unit.unitOff ?? null,
    unitOffFormula: unit.unitOffFormula ?? null,
    unitType: unit.unitType ?? null,
  };
}

export function discountToProto(discount: DiscountDefinition): Discount {
  return {
    $typeName: "scrip.common.v1.Discount",
    type: DiscountType[discount.type],
    effect: discount.effect === null ? undefined : DiscountEffect[discount.effect],
    percentOff: discount.percentOff ?? undefined,
    percentOffFormula: discount.percentOffFormula ?? undefined,
    amountOff: discount.amountOff ?? undefined,
    amountOffFormula: discount.amountOffFormula ?? undefined,
    amountLimit: discount.amountLimit ?? undefined,
    aggregatedAmountLimit: discount.aggregatedAmountLimit ?? undefined,
    fixedAmount: discount.fixedAmount ?? undefined,
    fixedAmountFormula: discount.fixedAmountFormula ?? undefined,
    unitOff: discount.unitOff ?? undefined,
    unitOffFormula: discount.unitOffFormula ?? undefined,
    unitType: discount.unitType ?? undefined,
    units: discount.units.map(toUnitDiscount),
  };
}

const toUnitDiscount = (unit: UnitDefinition): UnitDiscount => ({
  $typeName: "scrip.common.v1.UnitDiscount",
  effect: DiscountEffect[unit.effect],
  unitOff: unit.unitOff ?? undefined,
  unitOffFormula: unit.unitOffFormula ?? undefined,
  unitType: unit.unitType ?? undefined,
});

/** The JSON form of the message, for a column; it includes fields that the contract adds later. */
export const discountToJson = (discount: DiscountDefinition): JsonValue =>
  toJson(DiscountSchema, discountToProto(discount), { useProtoFieldName: true });

export function discountFromJson(json: JsonValue): DiscountDefinition {
  const read = parseDiscountProto(fromJson(DiscountSchema, json));
  // Only readable discounts are stored, so this is a bug and no input error.
  if (read.kind === "violation") throw new Error(`a stored discount: ${read.text}`);
  return read.definition;
}
