import { expect, test } from "vitest";

import {
  amountOff,
  buildDiscount,
  buildScopeEntry,
  buildGiftCard,
  buildLine,
  buildRule,
  buildTier,
  buildVoucher,
  buildSingleRule,
  percentOff,
} from "../../../test/builders.ts";
import type { CatalogueItem } from "../input/catalogue-item.ts";
import type { LineSnapshot } from "../input/order.ts";
import type { Subject } from "../input/subject.ts";
import { isRelevantToProducts } from "./product-relevance.ts";

const lines: readonly LineSnapshot[] = [
  buildLine({
    productId: "prod_mug",
    productSourceId: "mug",
    skuId: "sku_red",
    collections: ["pc_kitchen"],
  }),
];
const items = (operator: string, ...ids: readonly string[]) => ({
  [operator]: ids.map((id) => ({ id, object: objectOf(id) })),
});
const objectOf = (id: string): string =>
  id.startsWith("pc_") ? "products_collection" : id.startsWith("sku_") ? "sku" : "product";

const voucher = (snapshot: Parameters<typeof buildVoucher>[0] = {}): Subject => ({
  kind: "voucher",
  snapshot: buildVoucher(snapshot),
});
const worth = (discount: ReturnType<typeof buildDiscount>): Subject =>
  voucher({ value: { type: "DISCOUNT_VOUCHER", discount } });
const limitedTo = (id: string, more: object = {}): Subject =>
  voucher({
    rules: [
      buildRule(
        "val_1",
        {},
        {
          applicableTo: {
            included: [buildScopeEntry({ id, object: objectOf(id) })],
            excluded: [],
            includedAll: false,
            ...more,
          },
        },
      ),
    ],
  });
const wanting = (name: Parameters<typeof buildSingleRule>[0], conditions: object): Subject =>
  voucher({ rules: [buildSingleRule(name, conditions)] });
const units = (effect: "ADD_MISSING_ITEMS" | "ADD_SAME_ITEMS", unitType: string | null): Subject =>
  worth(buildDiscount({ type: "UNIT", unitOff: 1n, effect, unitType }));

const nothing = { included: [], excluded: [], includedAll: true };

/**
 * Whether the subject is relevant to a mug by its effect, and by its effect or its requirements.
 */
const cases: readonly (readonly [string, Subject, boolean, boolean])[] = [
  ["an order-level discount", voucher(), false, false],
  ["a discount on all items", worth(amountOff(5n, "APPLY_TO_ITEMS")), true, true],
  [
    "a tier on all items",
    { kind: "promotion_tier", snapshot: buildTier({ discount: amountOff(5n, "APPLY_TO_ITEMS") }) },
    true,
    true,
  ],
  [
    "a tier without a discount",
    { kind: "promotion_tier", snapshot: buildTier({ discount: null }) },
    false,
    false,
  ],
  ["a gift card", { kind: "voucher", snapshot: buildGiftCard({ balance: 5n }) }, false, false],
  [
    "a gift card for items",
    { kind: "voucher", snapshot: buildGiftCard({ balance: 5n, effect: "APPLY_TO_ITEMS" }) },
    true,
    true,
  ],
  [
    "a loyalty card",
    voucher({ value: { type: "LOYALTY_CARD", balance: 5n, lockedPoints: 0n } }),
    false,
    false,
  ],
  ["the product", limitedTo("prod_mug"), true, true],
  ["its source id", limitedTo("mug"), true, true],
  ["its collection", limitedTo("pc_kitchen"), true, true],
  ["its SKU", limitedTo("sku_red"), true, true],
  ["another product", limitedTo("prod_pen"), false, false],
  ["another product and all else", limitedTo("prod_pen", { includedAll: true }), true, true],
  [
    "all but the product",
    limitedTo("prod_mug", { excluded: [buildScopeEntry({ id: "prod_mug" })] }),
    false,
    false,
  ],
  [
    "a scope of everything, on the order",
    voucher({ rules: [buildRule("val_1", {}, { applicableTo: nothing })] }),
    false,
    false,
  ],
  ["a unit of it for free", units("ADD_MISSING_ITEMS", "prod_mug"), true, true],
  ["a unit of it, by source id", units("ADD_MISSING_ITEMS", "the-mug"), true, true],
  ["a unit of something else", units("ADD_MISSING_ITEMS", "prod_pen"), false, false],
  ["more of what is there", units("ADD_SAME_ITEMS", null), true, true],
  ["any of it", wanting("order.items.any", items("$is", "prod_pen", "prod_mug")), false, true],
  [
    "something from its collection",
    wanting("order.items.cheapest", items("$from", "pc_kitchen")),
    false,
    true,
  ],
  ["something else", wanting("order.items.every", items("$in", "prod_pen")), false, false],
  ["none of it", wanting("order.items.none", items("$is", "prod_mug")), false, false],
  ["not it", wanting("product.id", items("$is_not", "prod_mug")), false, false],
  ["its SKU in the cart", wanting("sku.id", items("$is", "sku_red")), false, true],
  [
    "a bundle with it",
    voucher({
      rules: [
        buildRule(
          "val_1",
          {},
          {
            bundleRules: {
              1: { name: "order.items.any", conditions: items("$is", "prod_pen") },
              2: { name: "order.items.any", conditions: items("$is", "prod_mug") },
            },
          },
        ),
      ],
    }),
    false,
    true,
  ],
];

const item: CatalogueItem = {
  productId: "prod_mug",
  skuId: null,
  productSourceId: "the-mug",
  skuSourceId: null,
  name: "Mug",
  skuLabel: null,
  price: 5n,
  productPrice: 5n,
  metadata: {},
  productMetadata: {},
  collections: [],
};
const cart = { lines, catalogue: new Map([["the-mug", item]]) };

test.each(cases)("%s", (_what, subject, byEffect, atAll) => {
  expect([
    isRelevantToProducts(subject, "effect", cart),
    isRelevantToProducts(subject, "effect_or_requirement", cart),
    isRelevantToProducts(subject, "any", cart),
  ]).toEqual([byEffect, atAll, true]);
});

test("nothing is relevant to an order without products", () => {
  const empty = { lines: [], catalogue: new Map() };
  for (const [, subject] of cases) {
    expect(isRelevantToProducts(subject, "effect_or_requirement", empty)).toBe(false);
  }
});

test("a discount without an effect applies to the items of its rules", () => {
  const subject = voucher({
    value: { type: "DISCOUNT_VOUCHER", discount: percentOff("10") },
    rules: [
      buildRule(
        "val_1",
        {},
        {
          applicableTo: {
            included: [],
            excluded: [buildScopeEntry({ id: "prod_pen" })],
            includedAll: false,
          },
        },
      ),
    ],
  });
  expect(isRelevantToProducts(subject, "effect", cart)).toBe(true);
});
