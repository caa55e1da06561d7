import type { VectorEntry, VectorRule } from "../vector.ts";
import {
  type Case,
  one,
  item,
  only,
  product,
  collection,
  bundle,
  spec,
  hand,
  percent,
  amount,
  fixed,
  units,
  ITEMS,
  ORDER,
  BY_QUANTITY,
  SPLIT,
} from "./case.ts";

/** Discounts multiplied by bundles. */

const laptopAndBag = bundle(10, [
  ["product", "laptop", 1],
  ["product", "bag", 1],
]);
const twoBundles = [item("laptop", 2), item("bag", 2)];
const mice = (rest: Partial<VectorEntry>): VectorRule[] => [
  { ...laptopAndBag, ...only(product("mouse", rest))[0] },
];

export const bundles: readonly Case[] = [
  one(
    ["bundle-amount", "docs/order-calculation.md#bundles", "1.00 for each of five bundles"],
    amount(100, ORDER),
    [[item("laptop", 5), item("bag", 5)], [laptopAndBag], spec({ total_discount_amount: 500 })],
  ),
  one(
    ["bundle-percent", "docs/order-calculation.md#bundles", "5 % for each of five bundles"],
    percent(5, ORDER),
    [
      [item("beans", 5), item("filters", 5)],
      [
        bundle(5, [
          ["product", "beans", 1],
          ["product", "filters", 1],
        ]),
      ],
      spec({ total_discount_amount: 6250 }),
    ],
  ),
  one(
    [
      "bundle-percent-all",
      "docs/order-calculation.md#bundles",
      "the multiplied percentage ends at 100",
    ],
    percent(40, ORDER),
    [[item("beans", 5)], [bundle(5, [["product", "beans", 1]])], hand({ total_amount: 0 })],
  ),
  one(
    ["bundle-limit", "docs/order-calculation.md#bundles", "no more bundles than the limit"],
    amount(100, ORDER),
    [
      [item("laptop", 5), item("bag", 5)],
      [
        bundle(3, [
          ["product", "laptop", 1],
          ["product", "bag", 1],
        ]),
      ],
      hand({ total_discount_amount: 300 }),
    ],
  ),
  one(
    [
      "bundle-unit-limit",
      "docs/order-calculation.md#bundles",
      "20.00 for one mouse of each bundle",
    ],
    amount(2000, BY_QUANTITY),
    [
      [...twoBundles, item("mouse", 3)],
      mice({ quantity_limit: 1 }),
      spec({ discounts: [0, 0, 4000] }),
    ],
  ),
  one(
    ["bundle-no-unit-limit", "docs/order-calculation.md#bundles", "20.00 for each mouse"],
    amount(2000, BY_QUANTITY),
    [[...twoBundles, item("mouse", 3)], mice({}), spec({ discounts: [0, 0, 6000] })],
  ),
  one(
    ["bundle-line", "docs/order-calculation.md#bundles", "20.00 for a line, twice"],
    amount(2000, ITEMS),
    [[...twoBundles, item("mouse", 3)], mice({}), spec({ discounts: [0, 0, 4000] })],
  ),
  one(
    [
      "bundle-three-lines",
      "docs/order-calculation.md#bundles",
      "20.00 for each of three lines, twice",
    ],
    amount(2000, ITEMS),
    [
      [...twoBundles, item("mouse", 1), item("mouse", 1), item("mouse", 1)],
      mice({}),
      spec({ discounts: [0, 0, 4000, 4000, 4000] }),
    ],
  ),
  one(
    [
      "bundle-split",
      "docs/order-calculation.md#bundles",
      "10.00 split over beans and filters, twice",
    ],
    amount(1000, SPLIT),
    [
      [item("beans", 2, { price: 1500 }), item("filters", 2, { price: 1000 })],
      [
        {
          ...bundle(2, [
            ["product", "beans", 1],
            ["product", "filters", 1],
          ]),
          ...only(collection("groceries"))[0],
        },
      ],
      spec({ discounts: [1200, 800] }),
    ],
  ),
  one(
    [
      "bundle-percent-units",
      "docs/order-calculation.md#bundles",
      "unit limits of a percentage are not multiplied",
    ],
    percent(10, ITEMS),
    [
      [...twoBundles, item("mouse", 3)],
      mice({ quantity_limit: 1 }),
      hand({ discounts: [0, 0, 800], discount_quantities: [0, 0, 1] }),
    ],
  ),
  one(
    [
      "bundle-fixed-units",
      "docs/order-calculation.md#bundles",
      "a fixed price is not multiplied, its unit limits are",
    ],
    fixed(1000, ITEMS),
    [
      [...twoBundles, item("mouse", 3)],
      mice({ quantity_limit: 1 }),
      hand({ discounts: [0, 0, 6000], discount_quantities: [0, 0, 2] }),
    ],
  ),
  one(
    ["bundle-units", "docs/order-calculation.md#bundles", "free units are multiplied"],
    units("ADD_NEW_ITEMS", 1, "mouse"),
    [twoBundles, [laptopAndBag], hand({ quantities: [2, 2, 2], total_amount: 210_000 })],
  ),
  one(
    [
      "bundle-not-multiplied",
      "docs/order-calculation.md#bundles",
      "multiply: false leaves the value as it is",
    ],
    amount(100, ORDER),
    [
      twoBundles,
      [
        bundle(
          5,
          [
            ["product", "laptop", 1],
            ["product", "bag", 1],
          ],
          false,
        ),
      ],
      hand({ total_discount_amount: 100 }),
    ],
  ),
  one(
    [
      "bundle-order-limit",
      "docs/order-calculation.md#effects",
      "limits on the order are multiplied",
    ],
    percent(50, { ...ORDER, amount_limit: 700 }),
    [twoBundles, [laptopAndBag], hand({ total_discount_amount: 1400 })],
  ),
  one(
    [
      "bundle-fixed-order",
      "docs/order-calculation.md#effects",
      "a fixed amount of the order is not multiplied",
    ],
    fixed(1000, ORDER),
    [twoBundles, [laptopAndBag], hand({ total_amount: 1000 })],
  ),
  one(
    [
      "bundle-assignment",
      "docs/order-calculation.md#bundles",
      "a SKU takes its line first, the product what is left",
    ],
    amount(100, ORDER),
    [
      [
        { sku: "$tshirt_l", quantity: 2 },
        { sku: "$tshirt_s", quantity: 2 },
      ],
      [
        bundle(5, [
          ["product", "tshirt", 1],
          ["sku", "tshirt_l", 1],
        ]),
      ],
      hand({ total_discount_amount: 200 }),
    ],
  ),
  one(
    [
      "bundle-fewest",
      "docs/order-calculation.md#bundles",
      "of two rules the one with fewer bundles counts",
    ],
    amount(100, ORDER),
    [
      [item("beans", 6), item("filters", 2)],
      [bundle(9, [["product", "beans", 1]]), bundle(9, [["product", "filters", 1]])],
      hand({ total_discount_amount: 200 }),
    ],
  ),
];
