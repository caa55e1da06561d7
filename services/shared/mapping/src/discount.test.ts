import { create } from "@bufbuild/protobuf";
import {
  DiscountEffect,
  DiscountSchema,
  DiscountType,
} from "@scrip/proto/scrip/common/v1/discount_pb";
import { describe, expect, test } from "vitest";

import {
  discountFromJson,
  discountToJson,
  parseDiscountProto,
  discountToProto,
} from "./discount.ts";

const discounts = [
  { type: DiscountType.PERCENT, percentOff: "12.5", amountLimit: 100n },
  { type: DiscountType.PERCENT, percentOff: "10", percentOffFormula: "1 + 2" },
  {
    type: DiscountType.AMOUNT,
    effect: DiscountEffect.APPLY_TO_ITEMS,
    amountOff: 10_000_000_000_000n,
    aggregatedAmountLimit: 0n,
  },
  { type: DiscountType.FIXED, fixedAmount: 5n, fixedAmountFormula: "ORDER_AMOUNT" },
  { type: DiscountType.UNIT, unitOff: 2n, unitType: "prod_1" },
  {
    type: DiscountType.UNIT,
    effect: DiscountEffect.ADD_MANY_ITEMS,
    units: [{ effect: DiscountEffect.ADD_NEW_ITEMS, unitOff: 1n, unitType: "sku_1" }],
  },
].map((init) => create(DiscountSchema, init));

const definitionOf = (message: (typeof discounts)[number]) => {
  const read = parseDiscountProto(message);
  if (read.kind === "violation") throw new Error(read.text);
  return read.definition;
};

describe.each(discounts)("a discount of type $type", (message) => {
  test("survives the round trip through a message", () => {
    const definition = definitionOf(message);
    expect(definitionOf(create(DiscountSchema, discountToProto(definition)))).toEqual(definition);
  });

  test("survives the round trip through a column", () => {
    const definition = definitionOf(message);
    const column = JSON.stringify(discountToJson(definition));
    expect(discountFromJson(JSON.parse(column))).toEqual(definition);
  });
});

test("drops values of other types", () => {
  const mixed = create(DiscountSchema, {
    type: DiscountType.PERCENT,
    percentOff: "10",
    amountOff: 5n,
    fixedAmount: 6n,
  });
  expect(definitionOf(mixed)).toMatchObject({ amountOff: null, fixedAmount: null });
});

test("explains why a discount cannot be applied", () => {
  expect(parseDiscountProto(create(DiscountSchema, {}))).toEqual({
    kind: "violation",
    text: "Property .discount.type is required",
  });
  expect(parseDiscountProto(create(DiscountSchema, { type: DiscountType.AMOUNT }))).toMatchObject({
    kind: "violation",
  });
});
