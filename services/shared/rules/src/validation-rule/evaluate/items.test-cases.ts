import { buildLine as line } from "../../../test/builders.ts";
import type { RuleName } from "../model/rule-names.ts";
import type { RuleLine } from "../model/rule-reader.ts";

/** Two mugs, a large shirt of the clothes collection, and a poster without a price. */
export const mug = line({
  productId: "prod_mug",
  productSourceId: "mug",
  quantity: 2n,
  price: 1000n,
  amount: 2000n,
  metadata: { color: "red" },
  productMetadata: { kind: "cup", weight: 300 },
});
export const shirt = line({
  productId: "prod_shirt",
  skuId: "sku_large",
  skuSourceId: "shirt-l",
  collections: ["pc_clothes", "pc_all"],
  quantity: 1n,
  price: 2500n,
  amount: 2500n,
  metadata: { color: "blue" },
  productMetadata: { kind: "cloth", weight: 200 },
});
export const poster = line({ productId: "prod_poster", quantity: 3n, collections: ["pc_all"] });
export const cart = [mug, shirt, poster];

export type ItemsCase = readonly [
  what: string,
  name: RuleName,
  rule: {
    readonly conditions: object;
    readonly property?: string;
    readonly rules?: object;
  },
  expected: {
    readonly lines: readonly RuleLine[];
    readonly passed: boolean;
    /** Positions of the lines that match. */
    readonly matched?: readonly number[];
  },
];

export const is = (...items: readonly (object | string)[]): { readonly conditions: object } => ({
  conditions: { $is: items },
});
export const product = (id: string): object => ({ id, object: "product" });
export const sku = (id: string): object => ({ id, object: "sku" });
export const collection = (id: string): object => ({ id, object: "products_collection" });
export const sub = (name: RuleName, operator: string, ...operands: readonly unknown[]): object => ({
  1: { name, conditions: { [operator]: operands } },
});

export const items: readonly ItemsCase[] = [
  // Matching lines.
  [
    "a product by id",
    "order.items.any",
    is(product("prod_mug")),
    { lines: cart, passed: true, matched: [0] },
  ],
  [
    "a product by source id as id",
    "order.items.any",
    is(product("mug")),
    { lines: cart, passed: true, matched: [0] },
  ],
  [
    "a product by source id",
    "order.items.any",
    is({ source_id: "mug", object: "product" }),
    { lines: cart, passed: true, matched: [0] },
  ],
  [
    "a product with any SKU",
    "order.items.any",
    is(product("prod_shirt")),
    { lines: cart, passed: true, matched: [1] },
  ],
  [
    "a SKU by id",
    "order.items.any",
    is(sku("sku_large")),
    { lines: cart, passed: true, matched: [1] },
  ],
  [
    "a SKU by source id",
    "order.items.any",
    is({ source_id: "shirt-l", type: "sku" }),
    { lines: cart, passed: true, matched: [1] },
  ],
  [
    "another SKU of the line's product",
    "order.items.any",
    is(sku("sku_small")),
    { lines: cart, passed: false, matched: [] },
  ],
  [
    "a collection",
    "order.items.any",
    is(collection("pc_all")),
    { lines: cart, passed: true, matched: [1, 2] },
  ],
  [
    "an id alone, by its prefix",
    "order.items.any",
    is("sku_large"),
    { lines: cart, passed: true, matched: [1] },
  ],
  [
    "product_or_sku",
    "order.items.any",
    is({ id: "shirt-l", type: "product_or_sku" }),
    { lines: cart, passed: true, matched: [1] },
  ],
  [
    "any of several",
    "order.items.any",
    is(product("prod_x"), sku("sku_large")),
    { lines: cart, passed: true, matched: [1] },
  ],
  [
    "$in as $is",
    "order.items.any",
    { conditions: { $in: [product("prod_mug")] } },
    { lines: cart, passed: true, matched: [0] },
  ],
  [
    "$from and $is",
    "order.items.any",
    { conditions: { $from: ["pc_all"], $is: [product("prod_mug")] } },
    { lines: cart, passed: false, matched: [] },
  ],
  [
    "$from alone",
    "order.items.any",
    { conditions: { $from: [{ id: "pc_clothes" }] } },
    { lines: cart, passed: true, matched: [1] },
  ],
  [
    "another line",
    "order.items.any",
    { conditions: { $is_not: [product("prod_mug")] } },
    { lines: cart, passed: true, matched: [1, 2] },
  ],
  [
    "no other line",
    "order.items.any",
    { conditions: { $not_in: [product("prod_mug")] } },
    { lines: [mug], passed: false, matched: [] },
  ],
  [
    "nothing in an empty order",
    "order.items.any",
    is(product("prod_mug")),
    { lines: [], passed: false, matched: [] },
  ],

  [
    "every line",
    "order.items.every",
    is(collection("pc_all")),
    { lines: [shirt, poster], passed: true, matched: [0, 1] },
  ],
  [
    "not every line",
    "order.items.every",
    is(collection("pc_all")),
    { lines: cart, passed: false, matched: [1, 2] },
  ],
  [
    "no line of an empty order",
    "order.items.every",
    is(collection("pc_all")),
    { lines: [], passed: false, matched: [] },
  ],
  ["none", "order.items.none", is(product("prod_x")), { lines: cart, passed: true, matched: [] }],
  [
    "some",
    "order.items.none",
    is(product("prod_mug")),
    { lines: cart, passed: false, matched: [0] },
  ],
  [
    "none of an empty order",
    "order.items.none",
    is(product("prod_mug")),
    { lines: [], passed: true, matched: [] },
  ],
  [
    "none in a quantity",
    "order.items.none",
    { ...is(product("prod_mug")), rules: sub("order.items.quantity", "$more_than", 2) },
    { lines: cart, passed: true, matched: [0] },
  ],

  [
    "the cheapest with a price",
    "order.items.cheapest",
    is(product("prod_mug")),
    { lines: cart, passed: true, matched: [0] },
  ],
  [
    "not the cheapest",
    "order.items.cheapest",
    is(product("prod_shirt")),
    { lines: cart, passed: false, matched: [] },
  ],
  [
    "the cheapest of a collection",
    "order.items.cheapest",
    { conditions: { $is: [product("prod_shirt")], $from: ["pc_all"] } },
    { lines: cart, passed: true, matched: [1] },
  ],
  [
    "one of the cheapest",
    "order.items.cheapest",
    is(product("prod_mug")),
    { lines: [line({ productId: "prod_x", price: 1000n }), mug], passed: true, matched: [1] },
  ],
  [
    "the most expensive",
    "order.items.most_expensive",
    is(sku("sku_large")),
    { lines: cart, passed: true, matched: [1] },
  ],
  [
    "not the most expensive",
    "order.items.most_expensive",
    is(product("prod_mug")),
    { lines: cart, passed: false, matched: [] },
  ],
  [
    "no cheapest line without prices",
    "order.items.cheapest",
    is(product("prod_poster")),
    { lines: [poster], passed: false, matched: [] },
  ],
];
