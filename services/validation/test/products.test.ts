import type { ApiError } from "@scrip/errors";
import { createDatabase } from "@scrip/postgres";
import { type ItemOutcome, ItemResult } from "@scrip/proto/scrip/common/v1/items_pb";
import { afterAll, describe, expect, test } from "vitest";

import { ROLE, SCHEMA } from "../src/service.ts";
import { findEntry } from "../src/store/catalogue.ts";
import { idempotency, newProject, rejectionKey, startServices } from "./deps.ts";

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const { products } = services;

const shirt = { sourceId: "shirt", name: "Shirt", price: 2_000n, attributes: ["size"] };

describe("CreateProduct", () => {
  test("creates a product that GetProduct finds by id and by source id", async () => {
    const call = newProject();
    const created = await products.createProduct({ ...shirt, metadata: { color: "red" } }, call());
    expect(created).toMatchObject({ ...shirt, metadata: { color: "red" }, skus: { total: 0n } });
    expect(created.id).toMatch(/^prod_/);
    for (const productId of [created.id, "shirt"]) {
      expect(await products.getProduct({ productId }, call())).toEqual(created);
    }
  });

  test("updates the product of a source id that exists, merging metadata by key", async () => {
    const call = newProject();
    const created = await products.createProduct(
      { ...shirt, metadata: { a: "1", b: "2" } },
      call(),
    );
    const updated = await products.createProduct(
      { sourceId: "shirt", price: 1_500n, metadata: { b: "3" } },
      call(),
    );
    expect(updated).toMatchObject({
      id: created.id,
      name: "Shirt",
      price: 1_500n,
      metadata: { a: "1", b: "3" },
    });
  });

  test("creates one product for concurrent requests with the same source id", async () => {
    const call = newProject();
    const created = await Promise.all(
      Array.from({ length: 10 }, () => products.createProduct(shirt, call())),
    );
    expect(new Set(created.map(({ id }) => id)).size).toBe(1);
  });

  test("rejects an unknown id with not_found", async () => {
    const request = { id: "prod_000000000000000000", name: "Shirt" };
    expect(await rejectionKey(products.createProduct(request, newProject()()))).toBe("not_found");
  });
});

describe("UpdateProduct", () => {
  test("changes sent fields and clears those sent as null", async () => {
    const call = newProject();
    const { id } = await products.createProduct(shirt, call());
    const updated = await products.updateProduct(
      { productId: id, price: 900n, updateMask: { paths: ["price", "name"] } },
      call(),
    );
    expect(updated).toMatchObject({ id, price: 900n, attributes: ["size"] });
    expect(updated.name).toBeUndefined();
    expect(updated.updatedAt).toBeDefined();
  });

  test("rejects a source id of another product with duplicate_found", async () => {
    const call = newProject();
    await products.createProduct(shirt, call());
    const { id } = await products.createProduct({ sourceId: "mug" }, call());
    const request = { productId: id, sourceId: "shirt" };
    expect(await rejectionKey(products.updateProduct(request, call()))).toBe("duplicate_found");
  });

  test("rejects the product of another project with not_found", async () => {
    const { id } = await products.createProduct(shirt, newProject()());
    expect(await rejectionKey(products.updateProduct({ productId: id }, newProject()()))).toBe(
      "not_found",
    );
  });
});

describe("ListProducts", () => {
  test("returns pages in the requested order, and the total", async () => {
    const call = newProject();
    const start = Date.now() - 60_000;
    for (const [index, sourceId] of ["a", "b", "c"].entries()) {
      await products.createProduct({ sourceId }, call({ now: start + index * 1_000 }));
    }
    const page = await products.listProducts({ limit: 2n, page: 2n, order: "-created_at" }, call());
    expect(page).toMatchObject({ products: [{ sourceId: "a" }], total: 3n });
    const all = await products.listProducts({}, call());
    expect(all.products.map(({ sourceId }) => sourceId)).toEqual(["a", "b", "c"]);
  });
});

describe("DeleteProduct", () => {
  test("deletes the product with its SKUs; a repetition is not_found", async () => {
    const call = newProject();
    const { id } = await products.createProduct(shirt, call());
    const sku = await products.createSku({ productId: id, sourceId: "shirt-l" }, call());
    await products.deleteProduct({ productId: id }, call());
    expect(await rejectionKey(products.getProduct({ productId: id }, call()))).toBe("not_found");
    expect(await rejectionKey(products.getSku({ skuId: sku.id }, call()))).toBe("not_found");
    expect(await rejectionKey(products.deleteProduct({ productId: id }, call()))).toBe("not_found");
  });

  test("keeps source ids reserved until the product is purged, unless it is deleted with force", async () => {
    const call = newProject();
    const { id } = await products.createProduct(shirt, call());
    await products.createSku({ productId: id, sourceId: "shirt-l" }, call());
    await products.deleteProduct({ productId: id }, call());
    const create = () => products.createProduct(shirt, call());
    expect(await rejectionKey(create())).toBe("duplicate_found");
    const { outcomes } = await services.imports.importProducts({ items: [shirt, {}] }, call());
    expect(resultsOf(outcomes)).toEqual(["duplicate_found", ItemResult.CREATED]);
    for (let round = 0; round < 2; round += 1) await products.purgeBinnedEntry({ id }, call());
    const { id: productId } = await create();
    await products.createSku({ productId, sourceId: "shirt-l" }, call());
    await products.deleteSku({ productId, skuId: "shirt-l", force: true }, call());
    await products.createSku({ productId, sourceId: "shirt-l" }, call());
  });

  test("of concurrent creations and deletions leaves the source id either used or reserved", async () => {
    const call = newProject();
    await products.createProduct(shirt, call());
    await Promise.allSettled([
      products.createProduct({ ...shirt, name: "Changed" }, call()),
      products.deleteProduct({ productId: shirt.sourceId }, call()),
      products.createProduct(shirt, call()),
    ]);
    expect(await rejectionKey(products.getProduct({ productId: shirt.sourceId }, call()))).toBe(
      "not_found",
    );
    expect(await rejectionKey(products.createProduct(shirt, call()))).toBe("duplicate_found");
  });

  test("a SKU that is created concurrently is rejected, or its source id is reserved with the product", async () => {
    const call = newProject();
    const { id: other } = await products.createProduct({ name: "Other" }, call());
    for (let round = 0; round < 30; round += 1) {
      const { id } = await products.createProduct({ name: "Shirt" }, call());
      const sourceId = `shirt-${round}`;
      const [created] = await Promise.all([
        products.createSku({ productId: id, sourceId }, call()).then(
          () => "created",
          (error: ApiError) => error.key,
        ),
        products.deleteProduct({ productId: id }, call()),
      ]);
      const again = products.createSku({ productId: other, sourceId }, call());
      if (created === "created") expect(await rejectionKey(again)).toBe("duplicate_found");
      else {
        expect(created).toBe("not_found");
        await again;
      }
    }
  });

  test("rejects a product that a collection lists with resource_in_use", async () => {
    const call = newProject();
    const { id } = await products.createProduct(shirt, call());
    await services.collections.createProductCollection(
      { name: "Shirts", type: "STATIC", products: [{ object: "product", id }] },
      call(),
    );
    expect(await rejectionKey(products.deleteProduct({ productId: id }, call()))).toBe(
      "resource_in_use",
    );
  });
});

describe("SKUs", () => {
  test("are created under their product, and have its price unless they have their own", async () => {
    const call = newProject();
    const { id: productId } = await products.createProduct(shirt, call());
    const sku = await products.createSku(
      { productId, sourceId: "shirt-l", sku: "L", attributes: { size: "L" } },
      call(),
    );
    expect(sku).toMatchObject({ productId, sku: "L", price: 2_000n, product: { id: productId } });
    const own = await products.updateSku({ productId, skuId: "shirt-l", price: 2_500n }, call());
    expect(own).toMatchObject({ id: sku.id, price: 2_500n, sku: "L" });
    expect(await products.getSku({ skuId: sku.id }, call())).toEqual(own);
    expect(await products.listSkus({ productId }, call())).toMatchObject({
      skus: [{ id: sku.id }],
      total: 1n,
    });
    const product = await products.getProduct({ productId }, call());
    expect(product.skus).toMatchObject({ data: [{ id: sku.id }], total: 1n });
  });

  test("reject an attribute that their product does not have with invalid_sku", async () => {
    const call = newProject();
    const { id: productId } = await products.createProduct(shirt, call());
    const request = { productId, attributes: { weight: "1" } };
    expect(await rejectionKey(products.createSku(request, call()))).toBe("invalid_sku");
  });

  test("reject an unknown product, and a SKU of another product, with not_found", async () => {
    const call = newProject();
    const { id: productId } = await products.createProduct(shirt, call());
    await products.createSku({ productId, sourceId: "shirt-l" }, call());
    const { id: mug } = await products.createProduct({ sourceId: "mug" }, call());
    const keys = await Promise.all([
      rejectionKey(products.createSku({ productId: "none", sourceId: "x" }, call())),
      rejectionKey(products.updateSku({ productId: mug, skuId: "shirt-l" }, call())),
      rejectionKey(products.deleteSku({ productId: mug, skuId: "shirt-l" }, call())),
      rejectionKey(products.getSku({ skuId: "none" }, call())),
    ]);
    expect(new Set(keys)).toEqual(new Set(["not_found"]));
  });

  test("are deleted once; a repetition is not_found", async () => {
    const call = newProject();
    const { id: productId } = await products.createProduct(shirt, call());
    const { id: skuId } = await products.createSku({ productId, sourceId: "shirt-l" }, call());
    await products.deleteSku({ productId, skuId }, call());
    expect(await rejectionKey(products.deleteSku({ productId, skuId }, call()))).toBe("not_found");
  });
});

describe("ResolveUnits", () => {
  test("resolves ids and source ids of several projects, and omits unknown names", async () => {
    const [one, two] = [newProject(), newProject()];
    const product = await products.createProduct(shirt, one());
    const { id: productId } = await products.createProduct(shirt, two());
    const sku = await products.createSku({ productId, sourceId: "shirt-l", sku: "L" }, two());
    const { results } = await products.resolveUnits(
      {
        queries: [
          { projectId: one().project.id, names: ["shirt", "unknown"] },
          { projectId: two().project.id, names: [sku.id] },
        ],
      },
      one(),
    );
    expect(results).toMatchObject([
      { units: [{ name: "shirt", product: { id: product.id } }] },
      { units: [{ name: sku.id, product: { id: productId }, sku: { id: sku.id, sku: "L" } }] },
    ]);
  });
});

const resultsOf = (outcomes: readonly ItemOutcome[]) =>
  outcomes.map(({ outcome }) => (outcome.case === "rejected" ? outcome.value.key : outcome.value));

describe("imports", () => {
  test("creates and updates products and SKUs item by item", async () => {
    const call = newProject();
    const { imports } = services;
    await products.createProduct(shirt, call());
    const ofProducts = await imports.importProducts(
      {
        items: [
          { sourceId: "shirt", price: 900n, updateMask: { paths: ["name", "price"] } },
          { sourceId: "mug", name: "Mug", attributes: ["color"], metadata: { fragile: true } },
          { id: "prod_000000000000000000", name: "Nothing" },
          { sourceId: "mug", price: 500n },
        ],
      },
      call(),
    );
    expect(resultsOf(ofProducts.outcomes)).toEqual([
      ItemResult.UPDATED,
      ItemResult.CREATED,
      "not_found",
      ItemResult.UPDATED,
    ]);
    const changed = await products.getProduct({ productId: "shirt" }, call());
    expect(changed).toMatchObject({ price: 900n, attributes: ["size"] });
    expect(changed.name).toBeUndefined();
    expect(await products.getProduct({ productId: "mug" }, call())).toMatchObject({
      name: "Mug",
      price: 500n,
      attributes: ["color"],
      metadata: { fragile: true },
    });
    const skus = {
      items: [
        { productId: "mug", sourceId: "mug-red", sku: "Red", attributes: { color: "red" } },
        { productId: "nothing", sourceId: "x" },
        { productId: "mug", sourceId: "mug-xl", attributes: { size: "xl" } },
      ],
    };
    const keyed = { ...call(), idempotency: idempotency("aa_1:0") };
    const first = await imports.importSkus(skus, keyed);
    expect(resultsOf(first.outcomes)).toEqual([ItemResult.CREATED, "not_found", "invalid_sku"]);
    expect((await imports.importSkus(skus, keyed)).outcomes).toEqual(first.outcomes);
    expect(await products.listSkus({ productId: "mug" }, call())).toMatchObject({ total: 1n });
  });

  test("imports SKUs while another import changes their product", async () => {
    const call = newProject();
    const { id: value } = await products.createProduct(shirt, call());
    const db = createDatabase({
      url: services.databaseUrl,
      schema: SCHEMA,
      role: ROLE,
      poolSize: 1,
      onError: () => {},
    });
    await db.transaction(async (tx) => {
      const key = { column: "id", value } as const;
      await findEntry(tx, "product", { projectId: call().project.id, key, lock: "change" });
      const items = [{ sourceId: "shirt-s", productId: "shirt" }];
      const { outcomes } = await services.imports.importSkus({ items }, call());
      expect(resultsOf(outcomes)).toEqual([ItemResult.CREATED]);
    });
    await db.close();
  });

  test("creates each product and SKU once when imports run concurrently", async () => {
    const call = newProject();
    const items = Array.from({ length: 30 }, (_, index) => ({ sourceId: `p-${index}` }));
    const orders = [items, items.toReversed(), items];
    const runs = await Promise.all(
      orders.map((order) => services.imports.importProducts({ items: order }, call())),
    );
    expect(runs.flatMap(({ outcomes }) => resultsOf(outcomes))).toHaveLength(90);
    expect(await products.listProducts({}, call())).toMatchObject({ total: 30n });
    // SKUs refer to products, which other imports change meanwhile.
    const skus = items.map(({ sourceId }, index) => ({ sourceId, productId: `p-${29 - index}` }));
    const skuRuns = await Promise.all(
      [skus, skus.toReversed(), skus].flatMap((order) => [
        services.imports.importSkus({ items: order }, call()),
        services.imports.importProducts({ items: items.toReversed() }, call()),
      ]),
    );
    expect(
      skuRuns
        .flatMap(({ outcomes }) => resultsOf(outcomes))
        .filter((one) => one === ItemResult.CREATED),
    ).toHaveLength(30);
  });
});
