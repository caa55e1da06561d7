import { type Case, one, item, only, product, spec, hand, units, adventure } from "./case.ts";

/** Free and replaced units. */

export const free: readonly Case[] = [
  one(
    [
      "missing-vases",
      "docs/order-calculation.md#free-units",
      "one vase in a cart of 72100, five free",
    ],
    units("ADD_MISSING_ITEMS", 5, "vase"),
    [
      [item("sofa", 1), item("vase", 1)],
      [],
      spec({ amount: 78_100, total_discount_amount: 7500, total_amount: 70_600 }),
    ],
  ),
  one(
    [
      "new-vases",
      "docs/order-calculation.md#free-units",
      "five new vases beside the one in the cart",
    ],
    units("ADD_NEW_ITEMS", 5, "vase"),
    [
      [item("sofa", 1), item("vase", 1)],
      [],
      hand({
        amount: 79_600,
        total_amount: 72_100,
        quantities: [1, 6],
        discount_quantities: [0, 5],
      }),
    ],
  ),
  one(
    [
      "new-line",
      "docs/order-calculation.md#free-units",
      "what is not in the cart comes as a line at the end",
    ],
    units("ADD_NEW_ITEMS", 2, "mug"),
    [[item("sofa", 1)], [], hand({ amount: 72_600, total_amount: 70_600, quantities: [1, 2] })],
  ),
  one(
    [
      "missing-all-there",
      "docs/order-calculation.md#free-units",
      "enough is in the cart: nothing is added, some of it is free",
    ],
    units("ADD_MISSING_ITEMS", 2, "mug"),
    [
      [item("mug", 3)],
      [],
      hand({ amount: 3000, total_amount: 1000, quantities: [3], discount_quantities: [2] }),
    ],
  ),
  one(
    [
      "no-price-line",
      "docs/order-calculation.md#free-units",
      "a product without a price adds units and no amounts",
    ],
    units("ADD_NEW_ITEMS", 3, "sticker"),
    [[item("mug", 1)], [], spec({ amount: 1000, total_amount: 1000, quantities: [1, 3] })],
  ),
  one(
    [
      "free-shipping",
      "docs/order-calculation.md#free-units",
      "free shipping is one missing unit of it",
    ],
    units("ADD_MISSING_ITEMS", 1, "shipping"),
    [[item("mug", 1), item("shipping", 1)], [], hand({ total_amount: 1000, amount: 2500 })],
  ),
  one(
    [
      "missing-two-lines",
      "docs/order-calculation.md#free-units",
      "several lines carry it: all count, from the first on they are free",
    ],
    units("ADD_MISSING_ITEMS", 4, "mug"),
    [
      [item("mug", 1), item("poster", 1), item("mug", 2)],
      [],
      hand({
        amount: 5500,
        total_amount: 1500,
        quantities: [2, 1, 2],
        discount_quantities: [2, 0, 2],
      }),
    ],
  ),
  one(
    ["unit-sku", "docs/order-calculation.md#free-units", "a SKU is added to the line of that SKU"],
    units("ADD_NEW_ITEMS", 1, "tshirt_l"),
    [
      [
        { sku: "$tshirt_s", quantity: 1 },
        { sku: "$tshirt_l", quantity: 1 },
      ],
      [],
      hand({ quantities: [1, 2], total_amount: 4300 }),
    ],
  ),
  one(
    [
      "unit-product-beside-sku",
      "docs/order-calculation.md#free-units",
      "a product is not added to a line of one of its SKUs",
    ],
    units("ADD_NEW_ITEMS", 1, "tshirt"),
    [
      [{ sku: "$tshirt_l", quantity: 1 }],
      [],
      hand({ quantities: [1, 1], amount: 4400, total_amount: 2400 }),
    ],
  ),
  one(
    ["many-items", "docs/order-calculation.md#free-units", "a gift of several kinds"],
    {
      type: "UNIT",
      effect: "ADD_MANY_ITEMS",
      units: [
        { effect: "ADD_NEW_ITEMS", unit_off: 1, unit_type: "$mug" },
        { effect: "ADD_MISSING_ITEMS", unit_off: 2, unit_type: "$poster" },
      ],
    },
    [[item("poster", 1)], [], hand({ quantities: [2, 1], total_amount: 0, amount: 4000 })],
  ),
  one(
    [
      "same-items",
      "docs/order-calculation.md#free-units",
      "one more of each line that the rules reach",
    ],
    units("ADD_SAME_ITEMS", 1),
    [
      [item("mug", 2), item("poster", 1), item("bottle", 1)],
      adventure,
      hand({ quantities: [3, 2, 1], total_amount: 6000, amount: 8500 }),
    ],
  ),
  one(
    [
      "unit-default",
      "docs/order-calculation.md#effects",
      "the default of units is what is missing",
    ],
    { type: "UNIT", unit_off: 1, unit_type: "$mug" },
    [[item("mug", 1)], [], hand({ quantities: [1], total_amount: 0 })],
  ),
  one(
    [
      "unit-formula",
      "docs/order-calculation.md#free-units",
      "a number of units from a formula is rounded down",
    ],
    {
      type: "UNIT",
      effect: "ADD_NEW_ITEMS",
      unit_off: 9,
      unit_off_formula: "ORDER_UNITS_QUANTITY * 0.5",
      unit_type: "$mug",
    },
    [[item("poster", 3)], [], hand({ quantities: [3, 1], total_amount: 4500 })],
  ),
  one(
    [
      "replace-one",
      "docs/order-calculation.md#replaced-items",
      "one of three t-shirts becomes a bottle",
    ],
    units("REPLACE_ITEMS", 1, "bottle"),
    [
      [item("tshirt", 3)],
      only(product("tshirt", { quantity_limit: 1 })),
      spec({ total_discount_amount: 500, total_amount: 6000, quantities: [2, 1] }),
    ],
  ),
  one(
    [
      "replace-cheaper",
      "docs/order-calculation.md#replaced-items",
      "one of three bottles becomes a mug",
    ],
    units("REPLACE_ITEMS", 1, "mug"),
    [
      [item("bottle", 3)],
      only(product("bottle", { quantity_limit: 1 })),
      spec({ total_discount_amount: 0, total_amount: 6000, quantities: [2, 1] }),
    ],
  ),
  one(
    [
      "replace-three",
      "docs/order-calculation.md#replaced-items",
      "one of three bottles becomes three mugs",
    ],
    units("REPLACE_ITEMS", 3, "mug"),
    [
      [item("bottle", 3)],
      only(product("bottle", { quantity_limit: 1 })),
      spec({ total_discount_amount: 500, total_amount: 7500, quantities: [2, 3] }),
    ],
  ),
  one(
    [
      "replace-into-line",
      "docs/order-calculation.md#replaced-items",
      "a line of the new product takes the units",
    ],
    units("REPLACE_ITEMS", 1, "bottle"),
    [
      [item("bottle", 1), item("tshirt", 2)],
      only(product("tshirt")),
      hand({ quantities: [3, 0], total_amount: 6500, discounts: [1000, 0] }),
    ],
  ),
];
