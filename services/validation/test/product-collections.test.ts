import { afterAll, describe, expect, test } from "vitest";

import { newProject, rejectionKey, startServices } from "./deps.ts";

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const { collections, products } = services;

const CHEAP = { junction: "and", price: { conditions: { $less_than: [1_000] } } };

describe("CreateProductCollection", () => {
  test("creates a static collection of products and SKUs, each listed once", async () => {
    const call = newProject();
    const shirt = await products.createProduct({ sourceId: "shirt" }, call());
    const sku = await products.createSku({ productId: shirt.id, sourceId: "shirt-l" }, call());
    const entries = [
      { object: "product", id: "shirt" },
      { object: "product", id: shirt.id },
      { object: "sku", id: "shirt-l" },
    ];
    const created = await collections.createProductCollection(
      { name: "Shirts", type: "STATIC", products: entries },
      call(),
    );
    expect(created).toMatchObject({
      name: "Shirts",
      type: "STATIC",
      products: [
        { object: "product", id: shirt.id },
        { object: "sku", id: sku.id, productId: shirt.id },
      ],
    });
    expect(
      await collections.getProductCollection({ productCollectionId: created.id }, call()),
    ).toEqual(created);
  });

  test.each([
    ["empty", { products: [] }],
    ["absent", {}],
  ])("creates a static collection without members when products are %s", async (_, fields) => {
    const call = newProject();
    await products.createProduct({ sourceId: "shirt" }, call());
    const { id } = await collections.createProductCollection(
      { name: "Empty", type: "STATIC", ...fields },
      call(),
    );
    const collection = { productCollectionId: id };
    expect(await collections.getProductCollection(collection, call())).toMatchObject({
      type: "STATIC",
      products: [],
    });
    expect(await collections.listCollectionProducts(collection, call())).toMatchObject({
      total: 0n,
    });
  });

  test("creates an AUTO_UPDATE collection, which lists what its filter matches", async () => {
    const call = newProject();
    await products.createProduct({ sourceId: "shirt", price: 2_000n }, call());
    const mug = await products.createProduct({ sourceId: "mug", price: 500n }, call());
    const { id } = await collections.createProductCollection(
      { name: "Cheap", type: "AUTO_UPDATE", filter: CHEAP },
      call(),
    );
    const list = () => collections.listCollectionProducts({ productCollectionId: id }, call());
    expect(await list()).toMatchObject({ data: [{ id: mug.id, object: "product" }], total: 1n });
    await products.updateProduct({ productId: "shirt", price: 900n }, call());
    expect(await list()).toMatchObject({ total: 2n });
  });

  test.each([
    ["a STATIC collection with a filter", { type: "STATIC", filter: CHEAP }],
    ["an AUTO_UPDATE collection without a filter", { type: "AUTO_UPDATE" }],
    [
      "a filter on an unknown field",
      {
        type: "AUTO_UPDATE",
        filter: { junction: "and", nonsense: { conditions: { $is: ["x"] } } },
      },
    ],
  ])("rejects %s with invalid_payload", async (_, fields) => {
    const request = { name: "Invalid", ...fields };
    expect(await rejectionKey(collections.createProductCollection(request, newProject()()))).toBe(
      "invalid_payload",
    );
  });

  test("rejects an unknown product with not_found", async () => {
    const entries = [{ object: "product", id: "none" }];
    const request = { name: "Unknown", type: "STATIC", products: entries };
    expect(await rejectionKey(collections.createProductCollection(request, newProject()()))).toBe(
      "not_found",
    );
  });
});

describe("ListProductCollections", () => {
  test("returns pages, newest first, and the total", async () => {
    const call = newProject();
    const start = Date.now() - 60_000;
    for (const [index, name] of ["a", "b", "c"].entries()) {
      await collections.createProductCollection(
        { name, type: "AUTO_UPDATE", filter: CHEAP },
        call({ now: start + index * 1_000 }),
      );
    }
    const page = await collections.listProductCollections({ limit: 2n }, call());
    expect(page.data.map(({ name }) => name)).toEqual(["c", "b"]);
    expect(page.total).toBe(3n);
  });
});

describe("DeleteProductCollection", () => {
  test("deletes the collection; a repetition is not_found", async () => {
    const call = newProject();
    const { id } = await collections.createProductCollection(
      { name: "Cheap", type: "AUTO_UPDATE", filter: CHEAP },
      call(),
    );
    const request = { productCollectionId: id };
    await collections.deleteProductCollection(request, call());
    expect(await rejectionKey(collections.deleteProductCollection(request, call()))).toBe(
      "not_found",
    );
    expect(await rejectionKey(collections.getProductCollection(request, call()))).toBe("not_found");
    expect(await rejectionKey(collections.listCollectionProducts(request, call()))).toBe(
      "not_found",
    );
  });

  test("rejects a collection that a rule references with resource_in_use", async () => {
    const call = newProject();
    const { id } = await collections.createProductCollection(
      { name: "Cheap", type: "AUTO_UPDATE", filter: CHEAP },
      call(),
    );
    await services.rules.createValidationRule(
      { rules: {}, applicableTo: { included: [{ object: "products_collection", id }] } },
      call(),
    );
    const request = { productCollectionId: id };
    expect(await rejectionKey(collections.deleteProductCollection(request, call()))).toBe(
      "resource_in_use",
    );
  });
});
