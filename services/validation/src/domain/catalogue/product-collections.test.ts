import { describe, expect, test } from "vitest";

import {
  type CatalogueRecord,
  type CatalogueLine,
  type ProductCollection,
  matchingCollections,
  parseCollectionFilter,
} from "./product-collections.ts";

const time = { now: Date.parse("2026-11-21T12:00:00Z"), timeZone: "UTC" };

const item = (object: "product" | "sku", said: Partial<CatalogueRecord>): CatalogueRecord => ({
  object,
  isStored: true,
  id: object === "sku" ? "sku_1" : "prod_1",
  sourceId: null,
  productId: object === "sku" ? "prod_1" : null,
  name: null,
  price: null,
  attributes: [],
  imageUrl: null,
  skuIds: [],
  metadata: {},
  createdAt: null,
  updatedAt: null,
  ...said,
});
const product = item("product", { price: 900n, metadata: { line: "summer" } });
const sku = item("sku", { price: 1_100n, name: "Large", metadata: { line: "winter" } });

/** A product that only the order line describes. */
const inline = item("product", {
  isStored: false,
  sourceId: "scarf",
  metadata: { line: "summer" },
});

const staticOf = (...ids: string[]): ProductCollection => ({
  id: "pc_1",
  type: "STATIC",
  itemIds: new Set(ids),
});

function dynamic(filter: Record<string, unknown>): ProductCollection {
  const read = parseCollectionFilter(filter);
  if (read.kind === "violation") throw new Error(read.text);
  return { id: "pc_1", type: "AUTO_UPDATE", matches: read.matches, usesSkus: read.usesSkus };
}

const is = (value: unknown) => ({ conditions: { $is: value } });

const scenarios: readonly [string, CatalogueLine, ProductCollection, boolean][] = [
  ["a listed product", { product, sku: null }, staticOf("prod_1"), true],
  ["any SKU of a listed product", { product, sku }, staticOf("prod_1"), true],
  ["a listed SKU", { product, sku }, staticOf("sku_1"), true],
  ["not another SKU of its product", { product, sku }, staticOf("sku_2"), false],
  ["not the product of a listed SKU", { product, sku: null }, staticOf("sku_1"), false],
  [
    "no item that the catalogue does not contain",
    { product: null, sku: null },
    staticOf("prod_1"),
    false,
  ],
  [
    "a product that matches the filter",
    { product, sku: null },
    dynamic({ price: { conditions: { $less_than: 1_000 } } }),
    true,
  ],
  [
    "no SKU that does not match, though its product does",
    { product, sku },
    dynamic({ price: { conditions: { $less_than: 1_000 } } }),
    false,
  ],
  [
    "a SKU that matches, though its product does not",
    { product, sku },
    dynamic({ "metadata.line": is("winter"), name: is("Large") }),
    true,
  ],
  ["a SKU by its product", { product, sku }, dynamic({ product_id: is("prod_1") }), true],
  ["only products", { product, sku }, dynamic({ object: is("product") }), false],
  [
    "any of the fields with or",
    { product, sku: null },
    dynamic({ junction: "OR", id: is("prod_2"), "metadata.line": is("summer") }),
    true,
  ],
  [
    "a product by the number of its SKUs",
    { product: item("product", { skuIds: ["sku_1", "sku_2"] }), sku: null },
    dynamic({ skus: { conditions: { $count_more: 1 } } }),
    true,
  ],
  [
    "no unknown item, whatever the filter",
    { product: null, sku: null },
    dynamic({ id: { conditions: { $is_not: "prod_1" } } }),
    false,
  ],
  [
    "a product that is not stored and matches the filter",
    { product: inline, sku: null },
    dynamic({ "metadata.line": is("summer"), source_id: is("scarf") }),
    true,
  ],
  [
    "a product that is not stored and has no value for a field that the filter excludes",
    { product: inline, sku: null },
    dynamic({ name: { conditions: { $is_not: "Scarf" } } }),
    true,
  ],
  [
    "no product that is not stored by its time of creation",
    { product: inline, sku: null },
    dynamic({ created_at: { conditions: { $before: "2026-12-01T00:00:00Z" } } }),
    false,
  ],
  [
    "a SKU that is not stored and matches, though its product does not",
    { product, sku: { ...sku, isStored: false } },
    dynamic({ "metadata.line": is("winter") }),
    true,
  ],
  [
    "no product that is not stored, though its id is listed",
    { product: inline, sku: null },
    staticOf("prod_1"),
    false,
  ],
];

describe("a collection contains", () => {
  test.each(scenarios)("%s", (_name, line, collection, expected) => {
    expect(matchingCollections(line, [collection], time)).toEqual(expected ? ["pc_1"] : []);
  });
});

describe("the filter of a collection", () => {
  test.each([
    ["an unknown field", { colour: is("red") }],
    ["an operator that its field does not support", { price: { conditions: { $contains: "1" } } }],
    ["a value that cannot be parsed", { created_at: { conditions: { $after: "yesterday" } } }],
  ])("is rejected with %s", (_name, filter) => {
    expect(parseCollectionFilter(filter).kind).toBe("violation");
  });

  test("reports whether it reads the SKUs of products", () => {
    expect(dynamic({ skus: { conditions: { $count: 0 } } })).toMatchObject({ usesSkus: true });
    expect(dynamic({ id: is("prod_1") })).toMatchObject({ usesSkus: false });
  });
});
