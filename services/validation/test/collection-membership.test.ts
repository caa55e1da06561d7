import { create, type JsonObject } from "@bufbuild/protobuf";
import { newId } from "@scrip/ids";
import { createDefinitionVersions } from "@scrip/postgres";
import { ListReferencesResponseSchema } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import { ProductCollectionService } from "@scrip/proto/scrip/validation/v1/collections_pb";
import { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import { type Call, clientOf, createDirectTransport } from "@scrip/rpc";
import { testDatabase } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import type { Deps } from "../src/deps.ts";
import { matchingCollections } from "../src/domain/catalogue/product-collections.ts";
import { loadCatalogueUnits, addCatalogueData } from "../src/loading/catalogue.ts";
import {
  createCollectionCaches,
  loadAllCollectionsOfLines,
  loadCollections,
  loadCollectionsOfLines,
} from "../src/loading/collections.ts";
import { routes } from "../src/routes.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { findOneInCatalogue } from "../src/store/catalogue-lookup.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());
const definitions = createDefinitionVersions({ db });
const errors: Error[] = [];
// The catalogue handlers need nothing else.
const deps = {
  db,
  newId,
  definitions,
  ...createCollectionCaches(db, definitions),
  findInCatalogue: (names) => findOneInCatalogue(db, names),
  onEvents: () => {},
  onError: (error: Error) => errors.push(error),
  // No earning rule refers to anything.
  clients: { listReferences: async () => create(ListReferencesResponseSchema) } as Partial<
    Deps["clients"]
  >,
} as Partial<Deps> as Deps;
const transport = createDirectTransport(routes(deps));
const products = clientOf(ProductService, transport);
const collections = clientOf(ProductCollectionService, transport);

const callOf = (projectId: string): Call => ({
  project: { id: projectId, timeZone: "Europe/Warsaw", caseSensitiveCodes: true },
  requestId: "v-000000000000000000",
  deadline: Date.now() + 60_000,
  now: Date.parse("2026-11-21T12:00:00Z"),
  caller: { side: "server", id: "app_test" },
});

/** Two shirts with SKUs, and a mug without. */
async function createShop() {
  const call = callOf(newId("proj"));
  const product = (sourceId: string, price: bigint, metadata: Record<string, string>) =>
    products.createProduct(
      { sourceId, name: sourceId, price, metadata, attributes: ["size"] },
      call,
    );
  const sku = (productId: string, sourceId: string, price?: bigint) =>
    products.createSku(
      {
        productId,
        sourceId,
        sku: sourceId,
        attributes: { size: "L" },
        ...(price !== undefined && { price }),
      },
      call,
    );
  await product("linen", 500n, { line: "summer" });
  await product("wool", 900n, { line: "winter" });
  await product("mug", 300n, {});
  await sku("linen", "linen-m");
  await sku("linen", "linen-l", 650n);
  await sku("wool", "wool-m", 1_200n);
  return { call, names: ["linen", "wool", "mug", "linen-m", "linen-l", "wool-m"] };
}

describe("ListCollectionProducts and a decision find the same entries", () => {
  test.each<[string, JsonObject, string[]]>([
    ["price", { price: { conditions: { $less_than: 600 } } }, ["linen", "mug", "linen-m"]],
    ["object", { object: { conditions: { $is: "sku" } } }, ["linen-m", "linen-l", "wool-m"]],
    ["number of SKUs", { skus: { conditions: { $count_more: 1 } } }, ["linen"]],
    ["metadata", { "metadata.line": { conditions: { $has_value: "" } } }, ["linen", "wool"]],
    [
      "name or attribute",
      {
        junction: "or",
        name: { conditions: { $starts_with: "MU" } },
        attributes: { conditions: { $count: 1 } },
        product_id: { conditions: { $has_value: "" } },
      },
      ["linen", "wool", "mug", "linen-m", "linen-l", "wool-m"],
    ],
    [
      "age",
      {
        created_at: { conditions: { $today: "" } },
        updated_at: { conditions: { $has_value: "" } },
      },
      [],
    ],
    [
      "source id",
      { source_id: { conditions: { $ends_with: ["-m", "ug"] } } },
      ["mug", "linen-m", "wool-m"],
    ],
  ])("by %s", async (_name, filter, expected) => {
    const { call, names } = await createShop();
    const { id } = await collections.createProductCollection(
      { name: "some", type: "AUTO_UPDATE", filter: { junction: "and", ...filter } },
      call,
    );
    const listed = await collections.listCollectionProducts(
      { productCollectionId: id, limit: 100n },
      call,
    );
    expect(new Set(listed.data.map(({ sourceId }) => sourceId))).toEqual(new Set(expected));
    expect(listed.total).toBe(BigInt(expected.length));

    const units = await loadCatalogueUnits(deps, call.project.id, names);
    const found = await loadCollectionsOfLines(deps, call, {
      lines: names.map((name) => units.get(name)!.line),
      ids: [id],
    });
    expect(names.filter((_each, index) => found[index]?.includes(id))).toEqual(
      names.filter((name) => expected.includes(name)),
    );
  });
});

test("finds order lines by their references, with sent metadata over stored metadata", async () => {
  const { call } = await createShop();
  const line = (said: object) =>
    ({ $typeName: "scrip.common.v1.OrderItemInput", ...said }) as never;
  const { items, lines } = await addCatalogueData(deps, call, [
    line({ sourceId: "linen", product: { metadata: { line: "sale", extra: 1 } } }),
    line({ sku: { sourceId: "wool-m" } }),
    line({ sourceId: "unknown", price: 5n }),
  ]);
  expect(items[0]).toMatchObject({
    product: { metadata: { line: "sale", extra: 1 }, price: 500n },
  });
  expect(lines).toMatchObject([
    { product: { sourceId: "linen", metadata: { line: "sale", extra: 1 } }, sku: null },
    { product: { sourceId: "wool" }, sku: { sourceId: "wool-m", price: 1_200n } },
    { product: null, sku: null },
  ]);
});

describe("the filter of a collection is evaluated on a product or SKU as its line describes it", () => {
  const red: JsonObject = { "metadata.color": { conditions: { $is: ["red"] } } };
  const product = { metadata: { color: "red" } };
  test.each<[string, JsonObject, object, boolean]>([
    ["an unknown product with inline metadata", red, { sourceId: "hat", product }, true],
    ["an inline product without a reference", red, { product }, true],
    ["a stored product with inline metadata", red, { sourceId: "mug", product }, true],
    ["an unknown product without inline data", red, { sourceId: "hat" }, false],
    [
      "an unknown product without inline data, for a filter that it could not fail",
      { name: { conditions: { $is_not: "Hat" } } },
      { sourceId: "hat" },
      false,
    ],
    [
      "the source id of the line",
      { source_id: { conditions: { $is: "hat" } } },
      { sourceId: "hat", product },
      true,
    ],
    [
      "an unknown product that its inline object only references",
      { name: { conditions: { $is_not: "Hat" } } },
      { product: { sourceId: "hat", metadata: {} } },
      false,
    ],
    [
      "the stored price and name of a stored product",
      { price: { conditions: { $is: 300 } }, name: { conditions: { $is: "mug" } } },
      { sourceId: "mug", product: { price: 111n, name: "Cup" } },
      true,
    ],
    [
      "the inline price and name of an unknown product",
      { price: { conditions: { $is: 111 } }, name: { conditions: { $is: "Cup" } } },
      { sourceId: "cup", product: { price: 111n, name: "Cup" } },
      true,
    ],
    [
      "a time of creation that an unknown product lacks",
      { created_at: { conditions: { $is_unknown: "" } } },
      { sourceId: "hat", product },
      true,
    ],
    [
      "the SKUs that an unknown product lacks",
      { skus: { conditions: { $count: 0 } } },
      { sourceId: "hat", product },
      true,
    ],
    [
      "an unknown SKU with inline metadata",
      red,
      { sourceId: "linen", sku: { sourceId: "linen-s", metadata: { color: "red" } } },
      true,
    ],
    [
      "the product of an unknown SKU that is only referenced",
      red,
      { sourceId: "linen", product, sku: { sourceId: "linen-s" } },
      true,
    ],
    [
      "the price of the product for an unknown SKU without one",
      { price: { conditions: { $is: 500 } } },
      { sourceId: "linen", sku: { sourceId: "linen-s" } },
      true,
    ],
  ])("%s", async (_name, filter, said, expected) => {
    const { call } = await createShop();
    const { id } = await collections.createProductCollection(
      { name: "some", type: "AUTO_UPDATE", filter: { junction: "and", ...filter } },
      call,
    );
    const { lines } = await addCatalogueData(deps, call, [
      { $typeName: "scrip.common.v1.OrderItemInput", ...said } as never,
    ]);
    expect(await loadCollectionsOfLines(deps, call, { lines, ids: [id] })).toEqual([
      expected ? [id] : [],
    ]);
  });
});

test("resolves a name to a product or SKU, ids before source ids", async () => {
  const { call } = await createShop();
  const wool = await products.getProduct({ productId: "wool" }, call);
  const [sku] = wool.skus!.data;
  // A product whose source id is the id of that SKU.
  await products.createProduct({ sourceId: sku!.id, price: 1n }, call);
  const units = await loadCatalogueUnits(deps, call.project.id, [
    "wool",
    wool.id,
    "wool-m",
    sku!.id,
    "nothing",
  ]);
  expect([...units.keys()]).toEqual(["wool", wool.id, "wool-m", sku!.id]);
  expect(units.get("wool")).toMatchObject({
    productId: wool.id,
    productSourceId: "wool",
    skuId: null,
    price: 900n,
    productMetadata: { line: "winter" },
  });
  expect(units.get("wool-m")).toMatchObject({ skuId: sku!.id, sku: "wool-m", price: 1_200n });
  expect(units.get(sku!.id)).toMatchObject({ productId: wool.id, skuId: sku!.id });
});

test("covers the SKUs of listed products, and has no effect from its deletion on", async () => {
  const { call } = await createShop();
  const { id, products: entries } = await collections.createProductCollection(
    {
      name: "listed",
      type: "STATIC",
      products: [
        { object: "product", id: "linen" },
        { object: "sku", id: "wool-m", productId: "wool" },
        { object: "product", id: "linen" },
      ],
    },
    call,
  );
  expect(entries.map(({ object }) => object)).toEqual(["product", "sku"]);
  const units = await loadCatalogueUnits(deps, call.project.id, [
    "linen",
    "linen-l",
    "wool",
    "wool-m",
    "mug",
  ]);
  const time = { now: call.now, timeZone: "UTC" };
  const known = await loadCollections(deps, call, [id, "pc_unknown", id]);
  const isIn = (name: string) =>
    matchingCollections(units.get(name)!.line, known, time).includes(id);
  expect([...units.keys()].map(isIn)).toEqual([true, true, false, true, false]);

  const listed = await collections.listCollectionProducts({ productCollectionId: id }, call);
  expect(listed.data.map(({ sourceId }) => sourceId)).toEqual(["wool-m", "linen"]);
  await collections.deleteProductCollection({ productCollectionId: id }, call);
  expect(await loadCollections(deps, call, [id])).toEqual([]);
});

test("limits a project to 100 collections, also under concurrent creation", async () => {
  const call = callOf(newId("proj"));
  const filter = { junction: "and", price: { conditions: { $more_than: 1 } } };
  const outcomes = await Promise.allSettled(
    Array.from({ length: 105 }, (_, index) =>
      collections.createProductCollection({ name: `c${index}`, type: "AUTO_UPDATE", filter }, call),
    ),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(100);
});

test("rejects deleting a listed product and a referenced collection", async () => {
  const { call } = await createShop();
  const { id } = await collections.createProductCollection(
    {
      name: "listed",
      type: "STATIC",
      products: [
        { object: "product", id: "linen" },
        { object: "sku", id: "wool-m" },
      ],
    },
    call,
  );
  await expect(products.deleteProduct({ productId: "linen" }, call)).rejects.toMatchObject({
    key: "resource_in_use",
    options: { related: { type: "products_collection", ids: [id], total: 1n } },
  });
  await products.deleteProduct({ productId: "wool" }, call);
  const left = await collections.getProductCollection({ productCollectionId: id }, call);
  expect(left.products.map(({ object }) => object)).toEqual(["product"]);

  const rule = {
    logic: "1",
    1: { name: "order.items.any", conditions: { $is: [{ object: "products_collection", id }] } },
  };
  await db.query(
    `insert into validation_rule (project_id, id, name, type, context_type, rules, created_at)
     values ($1, 'val_1', 'r', 'expression', 'global', $2, now())`,
    [call.project.id, JSON.stringify(rule)],
  );
  await expect(
    collections.deleteProductCollection({ productCollectionId: id }, call),
  ).rejects.toMatchObject({
    key: "resource_in_use",
    options: { related: { type: "validation_rule", ids: ["val_1"], total: 1n } },
  });
  await db.query("delete from validation_rule where project_id = $1", [call.project.id]);
  await collections.deleteProductCollection({ productCollectionId: id }, call);
  await products.deleteProduct({ productId: "linen" }, call);
});

test("fails only requests that refer to a collection that cannot be read, and logs it for the others", async () => {
  const { call } = await createShop();
  const { id } = await collections.createProductCollection(
    { name: "listed", type: "STATIC", products: [{ object: "product", id: "mug" }] },
    call,
  );
  await db.query(
    `insert into product_collection (project_id, id, name, type, filter, created_at)
     values ($1, 'pc_bad', 'bad', 'AUTO_UPDATE', '{"weight": {"conditions": {"$is": 1}}}', now())`,
    [call.project.id],
  );
  const { lines } = await addCatalogueData(deps, call, [
    { $typeName: "scrip.common.v1.OrderItemInput", sourceId: "mug" } as never,
  ]);
  const [readable, unreadable, all] = await Promise.allSettled([
    loadCollectionsOfLines(deps, call, { lines, ids: [id] }),
    loadCollectionsOfLines(deps, call, { lines, ids: [id, "pc_bad"] }),
    loadAllCollectionsOfLines(deps, call, lines),
  ]);
  expect(readable).toMatchObject({ value: [[id]] });
  expect(unreadable).toMatchObject({ reason: { name: "UnreadableDefinition" } });
  expect(all).toMatchObject({ value: [[id]] });
  expect(errors.map(({ message }) => message)).toEqual([
    expect.stringContaining("collection pc_bad has an invalid filter"),
  ]);
});
