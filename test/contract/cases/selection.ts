import {
  type Case,
  one,
  item,
  only,
  product,
  sku,
  collection,
  spec,
  hand,
  percent,
  amount,
  fixed,
  ITEMS,
  BY_QUANTITY,
} from "./case.ts";

/** Lines and units selected by rules. */

export const selection: readonly Case[] = [
  one(
    [
      "scope-none-match",
      "docs/order-calculation.md#selecting-lines-and-units",
      "no line matches: nothing is taken off",
    ],
    percent(10, ITEMS),
    [[item("bottle", 1)], only(product("mug")), hand({ total_amount: 2500 })],
  ),
  one(
    [
      "scope-excluded-wins",
      "docs/order-calculation.md#selecting-lines-and-units",
      "exclusion wins over inclusion",
    ],
    percent(10, ITEMS),
    [
      [item("mug", 1), item("poster", 1)],
      [{ applicable_to: { included: [collection("adventure")], excluded: [product("mug")] } }],
      hand({ discounts: [0, 150] }),
    ],
  ),
  one(
    [
      "scope-union",
      "docs/order-calculation.md#selecting-lines-and-units",
      "the scopes of several rules are one",
    ],
    percent(10, ITEMS),
    [
      [item("mug", 1), item("poster", 1), item("bottle", 1)],
      [
        { applicable_to: { included: [product("mug")] } },
        { applicable_to: { included: [product("poster")] } },
      ],
      hand({ discounts: [100, 150, 0] }),
    ],
  ),
  one(
    [
      "scope-specific",
      "docs/order-calculation.md#selecting-lines-and-units",
      "the most specific entry fixes the price",
    ],
    fixed(900, ITEMS),
    [
      [{ sku: "$tshirt_l", quantity: 1 }, item("tshirt", 1), item("mug", 1)],
      only(
        collection("adventure", { price: 800 }),
        product("tshirt", { price: 1500 }),
        sku("tshirt_l", { price: 1000 }),
      ),
      hand({ discounts: [1400, 500, 200] }),
    ],
  ),
  one(
    [
      "scope-first-of-equals",
      "docs/order-calculation.md#selecting-lines-and-units",
      "of equal entries the first counts",
    ],
    fixed(900, ITEMS),
    [
      [item("mug", 1)],
      only(product("mug", { price: 700 }), product("mug", { price: 100 })),
      hand({ discounts: [300] }),
    ],
  ),
  one(
    [
      "scope-included-all",
      "docs/order-calculation.md#selecting-lines-and-units",
      "included_all adds all other lines",
    ],
    percent(10, ITEMS),
    [
      [item("mug", 3), item("bottle", 1)],
      [
        {
          applicable_to: { included: [product("mug", { quantity_limit: 1 })], included_all: true },
        },
      ],
      hand({ discounts: [100, 250], discount_quantities: [1, 0] }),
    ],
  ),
  one(
    [
      "scope-product-any-sku",
      "docs/order-calculation.md#selecting-lines-and-units",
      "a product is matched whatever its SKU",
    ],
    percent(10, ITEMS),
    [
      [
        { sku: "$tshirt_l", quantity: 1 },
        { sku: "$tshirt_s", quantity: 1 },
      ],
      only(product("tshirt")),
      hand({ discounts: [240, 190] }),
    ],
  ),
  one(
    [
      "scope-collection-of-sku",
      "docs/order-calculation.md#selecting-lines-and-units",
      "a collection may list a SKU alone",
    ],
    percent(10, ITEMS),
    [
      [
        { sku: "$tshirt_l", quantity: 1 },
        { sku: "$tshirt_s", quantity: 1 },
      ],
      only(collection("large")),
      hand({ discounts: [240, 0] }),
    ],
  ),
  one(
    [
      "units-every-second",
      "docs/order-calculation.md#selecting-lines-and-units",
      "14 units, skip 1, repeat 2: the count runs on across lines",
    ],
    percent(100, ITEMS),
    [
      [item("socks", 4), item("mug", 2), item("tshirt", 3), item("poster", 5)],
      only(
        collection("clothes_and_more", {
          effect: "APPLY_FROM_MOST_EXPENSIVE",
          target: "UNIT",
          skip_initially: 1,
          repeat: 2,
        }),
      ),
      spec({ discount_quantities: [2, 1, 1, 3], discounts: [1000, 1000, 2000, 4500] }),
    ],
  ),
  one(
    [
      "cheapest-line",
      "docs/order-calculation.md#selecting-lines-and-units",
      "the cheapest line only",
    ],
    percent(50, ITEMS),
    [
      [item("poster", 1), item("mug", 2), item("tshirt", 1)],
      only(collection("adventure", { effect: "APPLY_TO_CHEAPEST" })),
      hand({ discounts: [0, 1000, 0] }),
    ],
  ),
  one(
    [
      "cheapest-unit",
      "docs/order-calculation.md#selecting-lines-and-units",
      "one unit of the cheapest line",
    ],
    percent(50, ITEMS),
    [
      [item("poster", 1), item("mug", 2), item("tshirt", 1)],
      only(collection("adventure", { effect: "APPLY_TO_CHEAPEST", target: "UNIT" })),
      hand({ discounts: [0, 500, 0], discount_quantities: [0, 1, 0] }),
    ],
  ),
  one(
    [
      "dearest-unit",
      "docs/order-calculation.md#selecting-lines-and-units",
      "one unit of the most expensive line",
    ],
    percent(50, ITEMS),
    [
      [item("poster", 1), item("mug", 2), item("tshirt", 2)],
      only(collection("adventure", { effect: "APPLY_TO_MOST_EXPENSIVE", target: "UNIT" })),
      hand({ discounts: [0, 0, 1000] }),
    ],
  ),
  one(
    [
      "from-cheapest-lines",
      "docs/order-calculation.md#selecting-lines-and-units",
      "every second line from the cheapest",
    ],
    percent(10, ITEMS),
    [
      [item("tshirt", 1), item("mug", 1), item("poster", 1)],
      only(collection("adventure", { effect: "APPLY_FROM_CHEAPEST", repeat: 2 })),
      hand({ discounts: [200, 100, 0] }),
    ],
  ),
  one(
    [
      "every-second-line",
      "docs/order-calculation.md#selecting-lines-and-units",
      "every second line of the request",
    ],
    percent(10, ITEMS),
    [
      [item("tshirt", 1), item("mug", 1), item("poster", 1)],
      only(collection("adventure", { skip_initially: 1, repeat: 2 })),
      hand({ discounts: [0, 100, 0] }),
    ],
  ),
  one(
    [
      "three-for-two",
      "docs/order-calculation.md#selecting-lines-and-units",
      "the cheapest of three units is free",
    ],
    percent(100, ITEMS),
    [
      [item("mug", 2), item("tshirt", 2), item("poster", 2)],
      only(
        collection("adventure", {
          effect: "APPLY_FROM_MOST_EXPENSIVE",
          target: "UNIT",
          skip_initially: 2,
          repeat: 3,
        }),
      ),
      hand({ discounts: [1000, 0, 1500], discount_quantities: [1, 0, 1] }),
    ],
  ),
  one(
    [
      "price-tie",
      "docs/order-calculation.md#selecting-lines-and-units",
      "at one price the lower subtotal goes first",
    ],
    percent(100, ITEMS),
    [
      [item("vase", 2), item("poster", 1), item("shipping", 1)],
      only(collection("at_1500", { effect: "APPLY_TO_CHEAPEST" })),
      hand({ discounts: [0, 1500, 0] }),
    ],
  ),
  one(
    [
      "quantity-limit",
      "docs/order-calculation.md#selecting-lines-and-units",
      "two units of each line",
    ],
    percent(10, ITEMS),
    [
      [item("mug", 3), item("poster", 1)],
      only(collection("adventure", { quantity_limit: 2 })),
      hand({ discounts: [200, 150], discount_quantities: [2, 0] }),
    ],
  ),
  one(
    [
      "aggregated-quantity-limit",
      "docs/order-calculation.md#selecting-lines-and-units",
      "four units of all lines",
    ],
    percent(10, ITEMS),
    [
      [item("mug", 3), item("poster", 3)],
      only(collection("adventure", { aggregated_quantity_limit: 4 })),
      hand({ discounts: [300, 150], discount_quantities: [0, 1] }),
    ],
  ),
  one(
    [
      "quantity-limit-zero",
      "docs/order-calculation.md#selecting-lines-and-units",
      "a limit of no units",
    ],
    percent(10, ITEMS),
    [[item("mug", 3)], only(product("mug", { quantity_limit: 0 })), hand({ discounts: [0] })],
  ),
  one(
    [
      "part-rounded-once",
      "docs/order-calculation.md#rounding",
      "part of a line in percent is rounded once",
    ],
    percent(33, ITEMS),
    [
      [item("cable", 3, { amount: 1000 })],
      only(product("cable", { quantity_limit: 2 })),
      hand({ discounts: [220], discount_quantities: [2] }),
    ],
  ),
  one(
    [
      "entry-amount-limit",
      "docs/order-calculation.md#effects",
      "an entry limits each of its lines",
    ],
    percent(50, ITEMS),
    [
      [item("mug", 1), item("poster", 1)],
      only(collection("adventure", { amount_limit: 600 })),
      hand({ discounts: [500, 600] }),
    ],
  ),
  one(
    ["entry-sum-limit", "docs/order-calculation.md#effects", "an entry limits all of its lines"],
    percent(50, ITEMS),
    [
      [item("mug", 1), item("poster", 1), item("bottle", 1)],
      only(collection("adventure", { aggregated_amount_limit: 800 }), product("bottle")),
      hand({ discounts: [500, 300, 1250] }),
    ],
  ),
  one(
    [
      "lowest-limit",
      "docs/order-calculation.md#selecting-lines-and-units",
      "of several limits the lowest counts",
    ],
    amount(900, BY_QUANTITY),
    [
      [item("mug", 5)],
      only(product("mug", { quantity_limit: 3, aggregated_quantity_limit: 2, amount_limit: 1700 })),
      hand({ discounts: [1700] }),
    ],
  ),
];
