import {
  type Case,
  one,
  item,
  priced,
  only,
  product,
  spec,
  hand,
  percent,
  amount,
  fixed,
  ITEMS,
  ORDER,
  BY_QUANTITY,
  SPLIT,
  SPLIT_UNITS,
  sample,
  adventure,
} from "./case.ts";

/** Effects on whole lines. */

/** The reference sample (docs/order-calculation.md#effects): effects on the first three lines of an order of 17500. */
export const reference: readonly Case[] = (
  [
    ["amount", amount(1000, ITEMS), [1000, 1000, 1000, 0], 14_500],
    ["by-quantity", amount(1000, BY_QUANTITY), [2000, 3000, 3000, 0], 9500],
    ["split", amount(1000, SPLIT), [160, 360, 480, 0], 16_500],
    ["split-by-quantity", amount(1000, SPLIT_UNITS), [250, 375, 375, 0], 16_500],
    ["percent", percent(10, ITEMS), [200, 450, 600, 0], 16_250],
    ["fixed", fixed(1000, ITEMS), [0, 1500, 3000, 0], 13_000],
  ] as const
).map(([name, discount, discounts, total_amount]) =>
  one(
    [`sample-${name}`, "docs/order-calculation.md#effects", `the reference sample: ${name}`],
    discount,
    [sample, adventure, spec({ discounts, total_amount })],
  ),
);

export const itemLevel: readonly Case[] = [
  one(
    [
      "items-round-each",
      "docs/order-calculation.md#rounding",
      "a percentage is rounded for each line",
    ],
    percent(10, ITEMS),
    [priced([1, 5], [1, 5], [1, 4]), [], hand({ discounts: [1, 1, 0] })],
  ),
  one(
    [
      "items-aggregated",
      "docs/order-calculation.md#effects",
      "10 % with an aggregated limit of 1000 favours earlier lines",
    ],
    percent(10, { ...ITEMS, aggregated_amount_limit: 1000 }),
    [priced([1, 2000], [1, 4500], [1, 6000]), [], spec({ discounts: [200, 450, 350] })],
  ),
  one(
    ["items-limit", "docs/order-calculation.md#effects", "10 % with a limit of 300 for each line"],
    percent(10, { ...ITEMS, amount_limit: 300 }),
    [priced([1, 2000], [1, 4500], [1, 6000]), [], hand({ discounts: [200, 300, 300] })],
  ),
  one(
    ["items-amount-cut", "docs/order-calculation.md#effects", "an amount is cut to its line"],
    amount(1000, ITEMS),
    [priced([1, 300], [1, 2000]), [], hand({ discounts: [300, 1000] })],
  ),
  one(
    [
      "items-amount-aggregated",
      "docs/order-calculation.md#effects",
      "an amount with an aggregated limit",
    ],
    amount(1000, { ...ITEMS, aggregated_amount_limit: 1500 }),
    [priced([1, 3000], [1, 3000]), [], hand({ discounts: [1000, 500] })],
  ),
  one(
    [
      "items-by-quantity-cut",
      "docs/order-calculation.md#effects",
      "by quantity never above the unit price",
    ],
    amount(1000, BY_QUANTITY),
    [priced([3, 300], [2, 1200]), [], hand({ discounts: [900, 2000] })],
  ),
  one(
    ["split-documented", "docs/order-calculation.md#rounding", "300 over 3300 and 3400"],
    amount(300, SPLIT),
    [priced([1, 3300], [1, 3400]), [], spec({ discounts: [148, 152] })],
  ),
  one(
    ["split-tie", "docs/order-calculation.md#rounding", "1000 over three equal lines"],
    amount(1000, SPLIT),
    [priced([1, 3000], [1, 3000], [1, 3000]), [], spec({ discounts: [334, 333, 333] })],
  ),
  one(
    [
      "split-cap",
      "docs/order-calculation.md#effects",
      "a share above its line moves on to the others",
    ],
    amount(1000, SPLIT_UNITS),
    [priced([8, 10], [1, 5000], [1, 3000]), [], hand({ discounts: [80, 460, 460] })],
  ),
  one(
    [
      "split-all",
      "docs/order-calculation.md#effects",
      "a split of more than there is takes it all",
    ],
    amount(10_000, SPLIT_UNITS),
    [priced([8, 10], [1, 500]), [], hand({ discounts: [80, 500], total_amount: 0 })],
  ),
  one(
    [
      "split-limit",
      "docs/order-calculation.md#discount-object",
      "a split keeps its aggregated limit",
    ],
    amount(1000, { ...SPLIT, aggregated_amount_limit: 500 }),
    [priced([1, 3000], [1, 3000]), [], hand({ discounts: [250, 250] })],
  ),
  one(
    [
      "split-part-of-lines",
      "docs/order-calculation.md#effects",
      "a split weighs the units that were selected",
    ],
    amount(900, SPLIT),
    [
      [item("tshirt", 3), item("bottle", 2)],
      only(product("tshirt", { quantity_limit: 1 }), product("bottle", { quantity_limit: 1 })),
      hand({ discounts: [400, 500], discount_quantities: [1, 1] }),
    ],
  ),
  one(
    [
      "fixed-default-items",
      "docs/order-calculation.md#effects",
      "rules that name products make items the default",
    ],
    fixed(800),
    [[item("mug", 2), item("bottle", 1)], only(product("mug")), hand({ discounts: [400, 0] })],
  ),
  one(
    [
      "percent-default-items",
      "docs/order-calculation.md#effects",
      "rules that exclude products do as well",
    ],
    percent(10),
    [
      [item("mug", 2), item("bottle", 1)],
      [{ applicable_to: { excluded: [product("mug")] } }],
      hand({ discounts: [0, 250] }),
    ],
  ),
  one(
    [
      "percent-order-with-scope",
      "docs/order-calculation.md#effects",
      "an effect on the order ignores the scope",
    ],
    percent(10, ORDER),
    [
      [item("mug", 2), item("bottle", 1)],
      only(product("mug")),
      hand({ discounts: [0, 0], total_discount_amount: 450 }),
    ],
  ),
];
