import { type Case, one, item, spec, hand, percent, amount, fixed, ITEMS } from "./case.ts";

/** Effects on the order, and formulas. */

export const orderLevel: readonly Case[] = [
  one(
    ["percent-half-up", "docs/order-calculation.md#rounding", "10 % of 11499 is 1150"],
    percent(10),
    [11_499, [], spec({ total_discount_amount: 1150, total_amount: 10_349 })],
  ),
  one(
    ["percent-fraction", "docs/order-calculation.md#rounding", "12.5 % of 1004 is 126"],
    percent(12.5),
    [1004, [], spec({ total_discount_amount: 126, total_amount: 878 })],
  ),
  one(
    ["percent-down", "docs/order-calculation.md#rounding", "12.5 % of 1003 is 125.375, so 125"],
    percent(12.5),
    [1003, [], hand({ total_discount_amount: 125 })],
  ),
  one(
    ["percent-all", "docs/order-calculation.md#effects", "100 % takes everything"],
    percent(100),
    [9999, [], hand({ total_amount: 0 })],
  ),
  one(["percent-none", "docs/order-calculation.md#effects", "0 % takes nothing"], percent(0), [
    9999,
    [],
    hand({ total_amount: 9999 }),
  ]),
  one(
    ["percent-half-cent", "docs/order-calculation.md#rounding", "half of one cent is one cent"],
    percent(50),
    [1, [], hand({ total_discount_amount: 1 })],
  ),
  one(
    ["percent-large", "docs/order-calculation.md#rounding", "10 % of what no float can tell apart"],
    percent(10),
    [9_007_199_254_740_991, [], hand({ total_discount_amount: 900_719_925_474_099 })],
  ),
  one(
    ["percent-limit", "docs/order-calculation.md#effects", "20 % of 10000, at most 1500"],
    percent(20, { amount_limit: 1500 }),
    [10_000, [], hand({ total_discount_amount: 1500 })],
  ),
  one(
    [
      "percent-two-limits",
      "docs/order-calculation.md#effects",
      "of two limits the lower one counts",
    ],
    percent(20, { amount_limit: 1500, aggregated_amount_limit: 1200 }),
    [10_000, [], hand({ total_discount_amount: 1200 })],
  ),
  one(["amount", "docs/order-calculation.md#effects", "1000 off 10000"], amount(1000), [
    10_000,
    [],
    hand({ total_amount: 9000 }),
  ]),
  one(
    ["amount-cut", "docs/order-calculation.md#effects", "20000 off 10000 is all of it"],
    amount(20_000),
    [10_000, [], hand({ total_amount: 0, total_discount_amount: 10_000 })],
  ),
  one(
    [
      "amount-limit",
      "docs/order-calculation.md#discount-object",
      "an amount takes a limit as well",
    ],
    amount(1000, { amount_limit: 400 }),
    [10_000, [], hand({ total_discount_amount: 400 })],
  ),
  one(["fixed", "docs/order-calculation.md#effects", "down to 1000"], fixed(1000), [
    10_000,
    [],
    hand({ total_amount: 1000 }),
  ]),
  one(
    ["fixed-above", "docs/order-calculation.md#effects", "a fixed amount never raises the order"],
    fixed(20_000),
    [10_000, [], hand({ total_amount: 10_000 })],
  ),
  one(
    ["fixed-limit", "docs/order-calculation.md#effects", "down to 1000, but by 500 at most"],
    fixed(1000, { amount_limit: 500 }),
    [10_000, [], hand({ total_amount: 9500 })],
  ),
  {
    id: "declared-amount",
    docs: "docs/order-calculation.md#input-order",
    title: "a declared amount of 20050 wins over items that sum to 5000",
    redeemables: [{ discount: percent(10) }],
    order: { amount: 20_050, items: [item("mug", 5)] },
    known: { from: "hand", amount: 20_050, total_discount_amount: 2005, total_amount: 18_045 },
  },
  {
    id: "declared-amount-below-items",
    docs: "docs/order-calculation.md#equations",
    title: "an item-level discount is cut so that nothing negative is left",
    redeemables: [{ discount: amount(1000, ITEMS) }],
    order: { amount: 1500, items: [item("mug", 1), item("tshirt", 1)] },
    known: { from: "hand", discounts: [1000, 500], total_amount: 0 },
  },
  one(
    [
      "line-amount",
      "docs/order-calculation.md#input-order",
      "a line amount wins over price times quantity",
    ],
    percent(10, ITEMS),
    [[item("mug", 2, { amount: 700 })], [], hand({ amount: 700, discounts: [70] })],
  ),
  one(
    [
      "line-price",
      "docs/order-calculation.md#input-order",
      "a price that is sent wins over the catalogue",
    ],
    percent(10, ITEMS),
    [[item("mug", 2, { price: 700 })], [], hand({ amount: 1400, discounts: [140] })],
  ),
  one(
    [
      "sku-price",
      "docs/order-calculation.md#input-order",
      "the price of the SKU comes before its product's",
    ],
    percent(10, ITEMS),
    [
      [
        { sku: "$tshirt_l", quantity: 1 },
        { sku: "$mug_red", quantity: 1 },
      ],
      [],
      hand({ amount: 3400, discounts: [240, 100] }),
    ],
  ),
  one(
    ["no-price", "docs/order-calculation.md#input-order", "a line without a price has no amount"],
    percent(10, ITEMS),
    [[item("sticker", 3), item("mug", 1)], [], hand({ amount: 1000, discounts: [0, 100] })],
  ),
];

export const formulas: readonly Case[] = [
  one(
    [
      "formula-limit",
      "docs/formulas.md#units-and-results",
      "15 % of 30000 is 4500, the limit 3000",
    ],
    percent(5, { percent_off_formula: "IF(ORDER_AMOUNT > 300; 15; 5)", amount_limit: 3000 }),
    [30_001, [], hand({ total_discount_amount: 3000 })],
  ),
  one(
    ["formula-boundary", "docs/formulas.md#units-and-results", "300.00 is not more than 300.00"],
    percent(5, { percent_off_formula: "IF(ORDER_AMOUNT > 300; 15; 5)" }),
    [30_000, [], hand({ total_discount_amount: 1500 })],
  ),
  one(
    ["formula-money", "docs/formulas.md#units-and-results", "a tenth of the order"],
    amount(1, { amount_off_formula: "ORDER_AMOUNT / 10" }),
    [12_345, [], hand({ total_discount_amount: 1235 })],
  ),
  one(
    ["formula-third", "docs/formulas.md#units-and-results", "a third, rounded half up once"],
    amount(1, { amount_off_formula: "ORDER_AMOUNT / 3" }),
    [100, [], hand({ total_discount_amount: 33 })],
  ),
  one(
    [
      "formula-fallback",
      "docs/formulas.md#units-and-results",
      "a missing operand: the static value counts",
    ],
    amount(700, { amount_off_formula: 'CUSTOMER_METADATA("age")' }),
    [10_000, [], hand({ total_discount_amount: 700 })],
  ),
  one(
    [
      "formula-zero",
      "docs/formulas.md#units-and-results",
      "a division by zero: the static value counts",
    ],
    amount(700, { amount_off_formula: "10 / 0" }),
    [10_000, [], hand({ total_discount_amount: 700 })],
  ),
];
