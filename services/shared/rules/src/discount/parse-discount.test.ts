import { describe, expect, test } from "vitest";

import type { DiscountDefinition } from "./definition.ts";
import { parseDiscount } from "./parse-discount.ts";

const nothing = {
  effect: null,
  percentOff: null,
  percentOffFormula: null,
  amountOff: null,
  amountOffFormula: null,
  fixedAmount: null,
  fixedAmountFormula: null,
  amountLimit: null,
  aggregatedAmountLimit: null,
  unitOff: null,
  unitOffFormula: null,
  unitType: null,
  units: [],
};
const limits = { formula: null, amountLimit: null, aggregatedAmountLimit: null };

type Sent = Partial<DiscountDefinition> & Pick<DiscountDefinition, "type">;

describe("parseDiscount", () => {
  test.each([
    [
      "a percentage with a fraction",
      { type: "PERCENT", percentOff: "12.5", amountLimit: 500n },
      {
        type: "PERCENT",
        effect: null,
        percentOff: { unscaled: 125n, scale: 1 },
        ...limits,
        amountLimit: 500n,
      },
    ],
    [
      "an amount on the order",
      { type: "AMOUNT", amountOff: 0n, effect: "APPLY_TO_ORDER", aggregatedAmountLimit: 0n },
      {
        type: "AMOUNT",
        effect: "APPLY_TO_ORDER",
        amountOff: 0n,
        ...limits,
        aggregatedAmountLimit: 0n,
      },
    ],
    [
      "an amount that is split",
      { type: "AMOUNT", amountOff: 100n, effect: "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY" },
      {
        type: "AMOUNT",
        effect: "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY",
        amountOff: 100n,
        ...limits,
      },
    ],
    [
      "a fixed price",
      { type: "FIXED", fixedAmount: 100n, effect: "APPLY_TO_ITEMS" },
      { type: "FIXED", effect: "APPLY_TO_ITEMS", fixedAmount: 100n, ...limits },
    ],
    [
      "a fixed price that only entries of rules set",
      { type: "FIXED", effect: "APPLY_TO_ITEMS" },
      { type: "FIXED", effect: "APPLY_TO_ITEMS", fixedAmount: null, ...limits },
    ],
    [
      "a fixed price without effect that only entries of rules set",
      { type: "FIXED" },
      { type: "FIXED", effect: null, fixedAmount: null, ...limits },
    ],
  ] satisfies [string, Sent, object][])("reads %s", (_what, sent, discount) => {
    expect(parseDiscount({ ...nothing, ...sent })).toEqual({ kind: "discount", discount });
  });

  test.each(["0", "100", "100.0", "99.999"])("accepts %s as a percentage", (percentOff) => {
    expect(parseDiscount({ ...nothing, type: "PERCENT", percentOff }).kind).toBe("discount");
  });

  const percentRange = "Property .discount.percent_off must be a number from 0 to 100";
  test.each([
    [
      "no percentage",
      { type: "PERCENT" },
      "Property .discount.percent_off is required for a discount of type PERCENT",
    ],
    [
      "no amount",
      { type: "AMOUNT", percentOff: "10" },
      "Property .discount.amount_off is required for a discount of type AMOUNT",
    ],
    [
      "no fixed amount of the order",
      { type: "FIXED", effect: "APPLY_TO_ORDER" },
      "Property .discount.fixed_amount is required for a discount of type FIXED",
    ],
    ["more than 100", { type: "PERCENT", percentOff: "100.01" }, percentRange],
    ["less than 0", { type: "PERCENT", percentOff: "-1" }, percentRange],
    ["text that is no number", { type: "PERCENT", percentOff: "ten" }, percentRange],
    [
      "a negative amount",
      { type: "AMOUNT", amountOff: -1n },
      "Property .discount.amount_off must not be negative",
    ],
    [
      "a negative fixed amount",
      { type: "FIXED", fixedAmount: -1n },
      "Property .discount.fixed_amount must not be negative",
    ],
    [
      "a negative limit",
      { type: "PERCENT", percentOff: "1", amountLimit: -1n },
      "Limits of .discount must not be negative",
    ],
    [
      "an effect that a percentage cannot have",
      { type: "PERCENT", percentOff: "1", effect: "APPLY_TO_ITEMS_PROPORTIONALLY" },
      "Effect APPLY_TO_ITEMS_PROPORTIONALLY is not available for a discount of type PERCENT",
    ],
    [
      "an effect that an amount cannot have",
      { type: "AMOUNT", amountOff: 1n, effect: "ADD_NEW_ITEMS" },
      "Effect ADD_NEW_ITEMS is not available for a discount of type AMOUNT",
    ],
    [
      "an effect that a fixed amount cannot have",
      { type: "FIXED", fixedAmount: 1n, effect: "APPLY_TO_ITEMS_BY_QUANTITY" },
      "Effect APPLY_TO_ITEMS_BY_QUANTITY is not available for a discount of type FIXED",
    ],
    [
      "a percentage whose formula does not parse",
      { type: "PERCENT", percentOff: "1", percentOffFormula: "1+" },
      "Property .discount.percent_off_formula is not a formula: it ends too early",
    ],
    [
      "an amount whose formula does not parse",
      { type: "AMOUNT", amountOff: 1n, amountOffFormula: "" },
      "Property .discount.amount_off_formula is not a formula: it ends too early",
    ],
    [
      "a fixed amount whose formula does not parse",
      { type: "FIXED", fixedAmount: 1n, fixedAmountFormula: "1)" },
      "Property .discount.fixed_amount_formula is not a formula: unexpected text at position 2",
    ],
    [
      "a formula of a fixed price without a static value",
      { type: "FIXED", effect: "APPLY_TO_ITEMS", fixedAmountFormula: "1+1" },
      "Property .discount.fixed_amount is required for a discount of type FIXED",
    ],
    [
      "a formula without a static value",
      { type: "PERCENT", percentOffFormula: "1+1" },
      "Property .discount.percent_off is required for a discount of type PERCENT",
    ],
  ] satisfies [string, Sent, string][])("rejects %s", (_what, sent, text) => {
    expect(parseDiscount({ ...nothing, ...sent })).toEqual({ kind: "violation", text });
  });

  test.each([
    { type: "PERCENT", percentOff: "1", percentOffFormula: "ORDER_AMOUNT / 100" },
    { type: "AMOUNT", amountOff: 1n, amountOffFormula: "ORDER_AMOUNT / 100" },
    { type: "FIXED", fixedAmount: 1n, fixedAmountFormula: "ORDER_AMOUNT / 100" },
  ] satisfies Sent[])("reads the formula of type $type", (sent) => {
    expect(parseDiscount({ ...nothing, ...sent })).toMatchObject({
      kind: "discount",
      discount: { formula: { readsLine: false } },
    });
  });
});

const grant = { unitOff: 2n, formula: null, unitType: "prod_1" };

describe("parseDiscount for units", () => {
  test.each([
    [
      "missing items by default",
      { unitOff: 2n, unitType: "prod_1" },
      "ADD_MISSING_ITEMS",
      [{ ...grant, effect: "ADD_MISSING_ITEMS" }],
    ],
    [
      "more of the same items, without a type",
      { effect: "ADD_SAME_ITEMS", unitOff: 2n },
      "ADD_SAME_ITEMS",
      [{ ...grant, effect: "ADD_SAME_ITEMS", unitType: null }],
    ],
    [
      "several kinds",
      {
        units: [
          { effect: "ADD_NEW_ITEMS", unitOff: 2n, unitOffFormula: null, unitType: "prod_1" },
          { effect: "REPLACE_ITEMS", unitOff: 1n, unitOffFormula: null, unitType: "sku_1" },
        ],
      },
      "ADD_MANY_ITEMS",
      [
        { ...grant, effect: "ADD_NEW_ITEMS" },
        { ...grant, effect: "REPLACE_ITEMS", unitOff: 1n, unitType: "sku_1" },
      ],
    ],
    [
      "a replacement without elements",
      { effect: "REPLACE_ITEMS", unitOff: 2n, unitType: "prod_1" },
      "REPLACE_ITEMS",
      [{ ...grant, effect: "REPLACE_ITEMS" }],
    ],
  ] satisfies [string, Partial<DiscountDefinition>, string, object[]][])(
    "reads %s",
    (_what, sent, effect, grants) => {
      expect(parseDiscount({ ...nothing, type: "UNIT", ...sent })).toEqual({
        kind: "discount",
        discount: { type: "UNIT", effect, grants },
      });
    },
  );

  test("reads the formula of a number of units", () => {
    const sent = { unitOff: 1n, unitOffFormula: "ORDER_AMOUNT / 10", unitType: "prod_1" };
    expect(parseDiscount({ ...nothing, type: "UNIT", ...sent })).toMatchObject({
      kind: "discount",
      discount: { grants: [{ formula: { readsLine: false } }] },
    });
  });

  const unit = {
    effect: "ADD_NEW_ITEMS",
    unitOff: 1n,
    unitOffFormula: null,
    unitType: "prod_1",
  } as const;
  test.each([
    [
      "no number of units",
      { unitType: "prod_1" },
      "Property .discount.unit_off is required for a discount of type UNIT",
    ],
    [
      "a negative number of units",
      { unitOff: -1n, unitType: "prod_1" },
      "Property .discount.unit_off must not be negative",
    ],
    [
      "units without a product",
      { unitOff: 1n },
      "Property .discount.unit_type is required for effect ADD_MISSING_ITEMS",
    ],
    [
      "several elements that are missing",
      { effect: "ADD_MANY_ITEMS", unitOff: 1n },
      "Property .discount.units is required for effect ADD_MANY_ITEMS",
    ],
    [
      "elements of an effect that has none",
      { effect: "ADD_NEW_ITEMS", units: [unit] },
      "Property .discount.units does not belong to effect ADD_NEW_ITEMS",
    ],
    [
      "an element with an effect on amounts",
      { units: [unit, { ...unit, effect: "APPLY_TO_ITEMS" }] },
      "Effect APPLY_TO_ITEMS is not available for a discount of type UNIT",
    ],
    [
      "an element without its type",
      { units: [unit, { ...unit, unitType: null }] },
      "Property .discount.units[1].unit_type is required for effect ADD_NEW_ITEMS",
    ],
    [
      "an element whose formula does not parse",
      { units: [{ ...unit, unitOffFormula: "1+" }] },
      "Property .discount.units[0].unit_off_formula is not a formula: it ends too early",
    ],
    [
      "an effect on amounts",
      { effect: "APPLY_TO_ORDER", unitOff: 1n, unitType: "prod_1" },
      "Effect APPLY_TO_ORDER is not available for a discount of type UNIT",
    ],
  ] satisfies [string, Partial<DiscountDefinition>, string][])(
    "rejects %s",
    (_what, sent, text) => {
      expect(parseDiscount({ ...nothing, type: "UNIT", ...sent })).toEqual({
        kind: "violation",
        text,
      });
    },
  );
});
