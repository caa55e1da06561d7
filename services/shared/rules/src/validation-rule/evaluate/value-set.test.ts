import fc from "fast-check";
import { expect, test } from "vitest";

import { isSame } from "../../formula/operators.ts";
import { type KnownValue, fromScalar } from "../../formula/value.ts";
import { matchesItem } from "../model/item-ref.ts";
import { isAmong, matchesAny, matchingItems } from "./value-set.ts";

const anyValue = fc
  .oneof(
    fc.constantFrom("1", "1.5", "true", "a", "text a"),
    fc.integer({ min: -3, max: 3 }).map((halves) => halves / 2),
    fc.boolean(),
  )
  .map((value): KnownValue => fromScalar(value)!);

test("finds a value exactly when it equals one of the values", () => {
  fc.assert(
    fc.property(anyValue, fc.array(anyValue), (value, values) => {
      expect(isAmong(value, values)).toBe(values.some((one) => isSame(value, one) === true));
    }),
  );
});

test("matches lines as each single item does", () => {
  const id = fc.option(fc.constantFrom("a", "b", "c"));
  const item = fc.record({
    object: fc.constantFrom("product" as const, "sku" as const, "products_collection" as const),
    id,
    sourceId: id,
    type: fc.constantFrom(null, "product_or_sku"),
  });
  const line = fc.record({
    productId: id,
    skuId: id,
    productSourceId: id,
    skuSourceId: id,
    collections: fc.array(fc.constantFrom("a", "b", "c")),
  });
  fc.assert(
    fc.property(fc.array(item, { maxLength: 20 }), line, (items, one) => {
      const matching = items.filter((ref) => matchesItem(ref, one));
      expect(matchesAny(items, one)).toBe(matching.length > 0);
      expect(matchingItems(items, one)).toEqual(matching);
    }),
  );
});
