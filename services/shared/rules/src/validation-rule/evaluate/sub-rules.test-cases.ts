import {
  type ItemsCase,
  cart,
  collection,
  is,
  mug,
  poster,
  product,
  shirt,
  sku,
  sub,
} from "./items.test-cases.ts";

export const subRules: readonly ItemsCase[] = [
  // Sub-rules.
  [
    "a sufficient quantity in a line",
    "order.items.any",
    { ...is(product("prod_mug")), rules: sub("order.items.quantity", "$more_than_or_equal", 2) },
    { lines: cart, passed: true, matched: [0] },
  ],
  [
    "an insufficient quantity in a line",
    "order.items.any",
    { ...is(product("prod_mug")), rules: sub("order.items.quantity", "$more_than", 2) },
    { lines: cart, passed: false, matched: [0] },
  ],
  [
    "a quantity in one of the lines",
    "order.items.any",
    { ...is(collection("pc_all")), rules: sub("order.items.quantity", "$is", 3) },
    { lines: cart, passed: true, matched: [1, 2] },
  ],
  [
    "a quantity in each of the lines",
    "order.items.every",
    { ...is(collection("pc_all")), rules: sub("order.items.quantity", "$is", 3) },
    { lines: [shirt, poster], passed: false, matched: [0, 1] },
  ],
  [
    "a price",
    "order.items.any",
    { ...is(collection("pc_all")), rules: sub("order.items.price", "$more_than", 2000) },
    { lines: cart, passed: true, matched: [1, 2] },
  ],
  [
    "a price of each",
    "order.items.every",
    { ...is(collection("pc_all")), rules: sub("order.items.price", "$more_than", 2000) },
    { lines: [shirt, poster], passed: false, matched: [0, 1] },
  ],
  [
    "the total quantity",
    "order.items.any",
    { ...is(collection("pc_all")), rules: sub("order.items.aggregated_quantity", "$is", 4) },
    { lines: cart, passed: true, matched: [1, 2] },
  ],
  [
    "the total amount",
    "order.items.any",
    {
      ...is(product("prod_mug"), sku("sku_large")),
      rules: sub("order.items.aggregated_amount", "$more_than_or_equal", 4500),
    },
    { lines: cart, passed: true, matched: [0, 1] },
  ],
  [
    "the total amount, one unit short",
    "order.items.any",
    {
      ...is(product("prod_mug"), sku("sku_large")),
      rules: sub("order.items.aggregated_amount", "$more_than_or_equal", 4501),
    },
    { lines: cart, passed: false, matched: [0, 1] },
  ],
  [
    "metadata of a line",
    "order.items.any",
    {
      ...is(collection("pc_all")),
      rules: {
        1: { name: "order.items.metadata", property: "color", conditions: { $is: ["blue"] } },
      },
    },
    { lines: cart, passed: true, matched: [1, 2] },
  ],
  [
    "one of two sub-rules",
    "order.items.any",
    {
      ...is(product("prod_mug")),
      rules: {
        1: { name: "order.items.quantity", conditions: { $is: [9] } },
        2: { name: "order.items.price", conditions: { $is: [1000] } },
        logic: "1 OR 2",
      },
    },
    { lines: cart, passed: true, matched: [0] },
  ],
  [
    "both sub-rules",
    "order.items.any",
    {
      ...is(product("prod_mug")),
      rules: {
        1: { name: "order.items.quantity", conditions: { $is: [9] } },
        2: { name: "order.items.price", conditions: { $is: [1000] } },
      },
    },
    { lines: cart, passed: false, matched: [0] },
  ],
];

export const olderForms: readonly ItemsCase[] = [
  // Older forms.
  [
    "a product",
    "product.id",
    { conditions: { $is: [{ id: "prod_mug" }] } },
    { lines: cart, passed: true, matched: [0] },
  ],
  [
    "no such product",
    "product.id",
    { conditions: { $is_not: [{ id: "prod_mug" }] } },
    { lines: cart, passed: false, matched: [0, 1, 2] },
  ],
  [
    "a missing product",
    "product.id",
    { conditions: { $is_not: [{ id: "prod_x" }] } },
    { lines: cart, passed: true, matched: [0, 1, 2] },
  ],
  [
    "a product in a quantity",
    "product.id",
    { conditions: { $is: [{ id: "mug" }] }, rules: sub("product.quantity", "$is", 2) },
    { lines: cart, passed: true, matched: [0] },
  ],
  [
    "a product at a price",
    "product.id",
    { conditions: { $is: [{ id: "mug" }] }, rules: sub("product.price", "$less_than", 1000) },
    { lines: cart, passed: false, matched: [0] },
  ],
  [
    "a product with discount_applicable",
    "product.id",
    {
      conditions: { $is: [{ id: "mug" }] },
      rules: sub("product.discount_applicable", "$is", true),
    },
    { lines: cart, passed: true, matched: [0] },
  ],
  [
    "a SKU",
    "sku.id",
    { conditions: { $in: [{ id: "sku_large" }] } },
    { lines: cart, passed: true, matched: [1] },
  ],
  [
    "a SKU by source id as id",
    "sku.id",
    { conditions: { $is: [{ id: "shirt-l" }] }, rules: sub("sku.quantity", "$is", 1) },
    { lines: cart, passed: true, matched: [1] },
  ],
  [
    "a SKU at a price",
    "sku.id",
    { conditions: { $is: [{ id: "sku_large" }] }, rules: sub("sku.price", "$is", 2500) },
    { lines: cart, passed: true, matched: [1] },
  ],
  [
    "metadata of a product",
    "product.metadata",
    { property: "kind", conditions: { $is: ["cup"] } },
    { lines: cart, passed: true, matched: [0] },
  ],
  [
    "metadata of no product",
    "product.metadata",
    { property: "kind", conditions: { $is: ["car"] } },
    { lines: cart, passed: false, matched: [] },
  ],
  [
    "metadata of all products",
    "product.metadata",
    {
      property: "weight",
      conditions: { $less_than: [400] },
      rules: sub("product.metadata.match_all", "$is", true),
    },
    { lines: [mug, shirt], passed: true, matched: [0, 1] },
  ],
  [
    "metadata of not all products",
    "product.metadata",
    {
      property: "weight",
      conditions: { $less_than: [300] },
      rules: sub("product.metadata.match_all", "$is", true),
    },
    { lines: [mug, shirt], passed: false, matched: [1] },
  ],
  [
    "metadata of products, by total quantity",
    "product.metadata",
    {
      property: "weight",
      conditions: { $less_than: [400] },
      rules: sub("product.metadata.aggregated_quantity", "$is", 3),
    },
    { lines: cart, passed: true, matched: [0, 1] },
  ],
  [
    "metadata of products, by total amount",
    "product.metadata",
    {
      property: "weight",
      conditions: { $less_than: [400] },
      rules: sub("product.metadata.aggregated_amount", "$is", 4500),
    },
    { lines: cart, passed: true, matched: [0, 1] },
  ],

  [
    "a SKU with discount_applicable",
    "sku.id",
    {
      conditions: { $is: [{ id: "sku_large" }] },
      rules: sub("sku.discount_applicable", "$is", true),
    },
    { lines: cart, passed: true, matched: [1] },
  ],
  [
    "metadata of products with discount_applicable",
    "product.metadata",
    {
      property: "kind",
      conditions: { $is: ["cup"] },
      rules: sub("product.metadata.discount_applicable", "$is", true),
    },
    { lines: cart, passed: true, matched: [0] },
  ],

  // Values of lines.
  [
    "a price",
    "order.items.price_any",
    { conditions: { $more_than: [2000] } },
    { lines: cart, passed: true },
  ],
  [
    "no such price",
    "order.items.price_any",
    { conditions: { $more_than: [2500] } },
    { lines: cart, passed: false },
  ],
  [
    "each price",
    "order.items.price_each",
    { conditions: { $more_than_or_equal: [1000] } },
    { lines: [mug, shirt], passed: true },
  ],
  [
    "a line without a price",
    "order.items.price_each",
    { conditions: { $more_than_or_equal: [1000] } },
    { lines: cart, passed: false },
  ],
  [
    "no prices at all",
    "order.items.price_each",
    { conditions: { $more_than_or_equal: [0] } },
    { lines: [], passed: false },
  ],
  [
    "metadata of a line",
    "order.items.metadata_any",
    { property: "color", conditions: { $is: ["blue"] } },
    { lines: cart, passed: true },
  ],
  [
    "metadata of each line",
    "order.items.metadata_each",
    { property: "color", conditions: { $in: ["blue", "red"] } },
    { lines: [mug, shirt], passed: true },
  ],
  [
    "a line without metadata",
    "order.items.metadata_each",
    { property: "color", conditions: { $in: ["blue", "red"] } },
    { lines: cart, passed: false },
  ],
  [
    "a line without the excluded value",
    "order.items.metadata_each",
    { property: "color", conditions: { $is_not: ["green"] } },
    { lines: cart, passed: true },
  ],
];
