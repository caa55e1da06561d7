import type { ValidationRule } from "@scrip/rules";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  amountOff,
  buildDiscountVoucher,
  buildLine,
  buildOrder,
  buildRule,
  evaluateRedeemables,
  voucherRedeemable,
} from "../../../test/builders.ts";
import { type OrderState, initialOrderState } from "../order/order-state.ts";
import { findBundles } from "./find-bundles.ts";

type Part = {
  readonly object: "product" | "sku" | "products_collection";
  /** Alternative items of the part. */
  readonly ids: readonly string[];
  readonly quantity: number;
};

const bundleRule = (limit: number, parts: readonly Part[], more: object = {}): ValidationRule =>
  buildRule(
    "val_bundle",
    {},
    {
      bundleRules: {
        limit,
        ...more,
        ...Object.fromEntries(
          parts.map(({ object, ids, quantity }, at) => [
            String(at + 1),
            {
              name: "order.items.any",
              conditions: { $is: ids.map((id) => ({ id, object })) },
              rules: {
                1: { name: "order.items.aggregated_quantity", conditions: { $is: [quantity] } },
              },
            },
          ]),
        ),
      },
    },
  );

type Sent = { readonly product: string; readonly sku?: string; readonly quantity: number };

const orderOf = (lines: readonly Sent[], collections: Readonly<Record<string, string[]>> = {}) =>
  buildOrder({
    lines: lines.map(({ product, sku, quantity }) =>
      buildLine({
        productId: product,
        skuId: sku ?? null,
        quantity: BigInt(quantity),
        prices: { line: 100n },
        collections: Object.keys(collections).filter((id) => collections[id]?.includes(product)),
      }),
    ),
  });

const stateOf = (...order: Parameters<typeof orderOf>): OrderState =>
  initialOrderState(orderOf(...order));

const product = (id: string, quantity = 1): Part => ({ object: "product", ids: [id], quantity });
const sku = (id: string, quantity = 1): Part => ({ object: "sku", ids: [id], quantity });

describe("findBundles", () => {
  test("counts bundles by the scarcest part and lists their items", () => {
    const rule = bundleRule(5, [product("beans", 2), product("filters")]);
    const state = stateOf([
      { product: "beans", quantity: 3 },
      { product: "filters", quantity: 9 },
      { product: "beans", quantity: 2 },
    ]);
    expect(findBundles([rule], state)).toMatchObject({
      quantity: 2n,
      multiplier: 2n,
      failed: [],
      result: {
        quantity: 2n,
        limit: 5n,
        missing: [],
        identified: [
          { id: "beans", object: "product", itemIndex: 0, itemQuantity: 3n },
          { id: "beans", object: "product", itemIndex: 2, itemQuantity: 1n },
          { id: "filters", object: "product", itemIndex: 1, itemQuantity: 2n },
        ],
      },
    });
  });

  test("lists the units found and the units missing for one bundle", () => {
    const collection: Part = { object: "products_collection", ids: ["pc_1"], quantity: 3 };
    const rule = bundleRule(5, [product("beans", 2), sku("sku_1"), collection]);
    const state = stateOf([{ product: "beans", quantity: 1 }], { pc_1: ["beans"] });
    expect(findBundles([rule], state)).toMatchObject({
      quantity: 0n,
      failed: [{ id: "val_bundle" }],
      result: {
        quantity: 0n,
        identified: [{ id: "beans", object: "product", itemIndex: 0, itemQuantity: 1n }],
        missing: [
          { id: "sku_1", object: "sku", itemQuantity: 1n },
          { id: "beans", object: "product", itemQuantity: 1n },
          { id: "pc_1", object: "products_collection", itemQuantity: 3n },
        ],
      },
    });
  });

  test("lists the units found for several incomplete bundles, at most as many as one bundle uses", () => {
    const first = bundleRule(5, [product("beans", 2), product("filters")]);
    const second = bundleRule(5, [product("mug"), product("kettle")]);
    const state = stateOf([
      { product: "beans", quantity: 4 },
      { product: "mug", quantity: 1 },
    ]);
    expect(findBundles([first, second], state).result).toMatchObject({
      quantity: 0n,
      identified: [
        { id: "beans", object: "product", itemIndex: 0, itemQuantity: 2n },
        { id: "mug", object: "product", itemIndex: 1, itemQuantity: 1n },
      ],
      missing: [
        { id: "filters", object: "product", itemQuantity: 1n },
        { id: "kettle", object: "product", itemQuantity: 1n },
      ],
    });
  });

  test("assigns units to SKUs first, whatever the order of the parts", () => {
    const rule = bundleRule(9, [product("shirt"), sku("shirt_l")]);
    const state = stateOf([
      { product: "shirt", sku: "shirt_l", quantity: 2 },
      { product: "shirt", sku: "shirt_s", quantity: 2 },
    ]);
    expect(findBundles([rule], state).result).toMatchObject({
      quantity: 2n,
      identified: [
        { id: "shirt_l", object: "sku", itemIndex: 0, itemQuantity: 2n },
        { id: "shirt", object: "product", itemIndex: 1, itemQuantity: 2n },
      ],
    });
  });

  test("reassigns units to a part without alternatives", () => {
    const either: Part = { object: "product", ids: ["a", "b"], quantity: 1 };
    const state = stateOf([
      { product: "a", quantity: 1 },
      { product: "b", quantity: 1 },
    ]);
    expect(findBundles([bundleRule(1, [either, product("a")])], state).quantity).toBe(1n);
    expect(findBundles([bundleRule(1, [product("a"), either])], state).quantity).toBe(1n);
  });

  test("ignores units that were added for free", () => {
    const free = buildDiscountVoucher("FREE", {
      type: "UNIT",
      effect: "ADD_NEW_ITEMS",
      grants: [{ effect: "ADD_NEW_ITEMS", unitOff: 1n, formula: null, unitType: "beans" }],
    });
    const bundled = buildDiscountVoucher("BUNDLE", amountOff(1n), {
      id: "v_bundle",
      rules: [bundleRule(1, [product("beans", 2)])],
    });
    const [, evaluated] = evaluateRedeemables({
      redeemables: [voucherRedeemable(free), voucherRedeemable(bundled)],
      order: orderOf([{ product: "beans", quantity: 1 }]),
    });
    expect(evaluated).toMatchObject({
      status: "INAPPLICABLE",
      rejection: { key: "order_rules_violated" },
      bundle: { quantity: 0n, missing: [{ id: "beans", object: "product", itemQuantity: 1n }] },
    });
  });

  test("returns the quantity for formulas without multiplication", () => {
    const rule = bundleRule(9, [product("beans")], { multiply: false });
    expect(findBundles([rule], stateOf([{ product: "beans", quantity: 4 }]))).toMatchObject({
      quantity: 4n,
      multiplier: 1n,
    });
  });

  const anyPart = fc.record({
    object: fc.constantFrom("product" as const, "sku" as const),
    ids: fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 2 }),
    quantity: fc.integer({ min: 1, max: 2 }),
  });
  const anyLine = fc.record({
    product: fc.constantFrom("a", "b", "c"),
    sku: fc.constantFrom("a", "b", "c"),
    quantity: fc.integer({ min: 0, max: 3 }),
  });

  test("finds as many bundles as trying every assignment, and uses each unit once", () => {
    fc.assert(
      fc.property(
        fc.array(anyPart, { minLength: 1, maxLength: 3 }),
        fc.array(anyLine, { maxLength: 3 }),
        fc.integer({ min: 1, max: 3 }),
        (parts, lines, limit) => {
          const { result } = findBundles([bundleRule(limit, parts)], stateOf(lines));
          expect(result?.quantity).toBe(BigInt(mostByTrying(parts, lines, limit)));
          for (const [index, line] of lines.entries()) {
            const used = (result?.identified ?? []).filter((item) => item.itemIndex === index);
            const units = used.reduce((sum, { itemQuantity }) => sum + itemQuantity, 0n);
            expect(units <= BigInt(line.quantity)).toBe(true);
          }
          const all = (result?.identified ?? []).reduce((sum, item) => sum + item.itemQuantity, 0n);
          const lacking = (result?.missing ?? []).reduce(
            (sum, item) => sum + item.itemQuantity,
            0n,
          );
          const each = parts.reduce((sum, { quantity }) => sum + BigInt(quantity), 0n);
          // Without a complete bundle, what was found and what is missing make one.
          expect(all + lacking).toBe(each * (result?.quantity || 1n));
        },
      ),
    );
  });
});

/** Tries every assignment, unit by unit. */
function mostByTrying(parts: readonly Part[], lines: readonly Sent[], limit: number): number {
  const fits = (wanted: readonly Part[], free: readonly number[]): boolean => {
    const [part, ...others] = wanted;
    if (part === undefined) return true;
    return lines.some((line, index) => {
      const name = part.object === "product" ? line.product : line.sku;
      const left = free[index] ?? 0;
      return left > 0 && part.ids.includes(name ?? "") && fits(others, free.with(index, left - 1));
    });
  };
  const free = lines.map(({ quantity }) => quantity);
  for (let most = limit; most > 0; most -= 1) {
    const wanted = parts.flatMap((part) =>
      Array.from({ length: part.quantity * most }, () => part),
    );
    if (wanted.length <= free.reduce((a, b) => a + b, 0) && fits(wanted, free)) return most;
  }
  return 0;
}
