import { newId } from "@scrip/ids";
import { createDefinitionVersions } from "@scrip/postgres";
import type { OrderItemInput } from "@scrip/proto/scrip/common/v1/order_pb";
import { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import { type Call, clientOf, createDirectTransport } from "@scrip/rpc";
import { testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import {
  type OverrideDeps,
  overridingLines,
  upsertOverrides,
} from "../src/catalogue/catalogue-overrides.ts";
import type { Deps } from "../src/deps.ts";
import { routes } from "../src/routes.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());
// The catalogue handlers need nothing else.
const deps = { db, newId, definitions: createDefinitionVersions({ db }) } as unknown as Deps;
const products = clientOf(ProductService, createDirectTransport(routes(deps)));

/** For an order that is not stored. */
function write(to: OverrideDeps, call: Call, items: readonly OrderItemInput[]): Promise<void> {
  const { project, now } = call;
  const lines = overridingLines(call, items);
  return upsertOverrides(to, { projectId: project.id, now, lines }, async () => {});
}

function createShop() {
  const call: Call = {
    project: { id: newId("proj"), timeZone: "UTC", caseSensitiveCodes: true },
    requestId: "v-000000000000000000",
    deadline: Date.now() + 60_000,
    now: Date.parse("2026-11-21T12:00:00Z"),
    caller: { side: "server", id: "app_test" },
  };
  return {
    call,
    order: (...items: object[]) => write(deps, call, items as OrderItemInput[]),
    product: (productId: string) => products.getProduct({ productId }, call),
    sku: (skuId: string) => products.getSku({ skuId }, call),
  };
}

test("creates the product and SKU that a line with override references", async () => {
  const { order, product, sku } = createShop();
  await order(
    { sourceId: "shirt", product: { override: true, name: "Shirt", price: 900n } },
    {
      product: { override: true, sourceId: "mug", metadata: { a: 1 } },
      sku: { override: true, sourceId: "mug-red", sku: "Red", price: 450n },
    },
    { sourceId: "quiet", product: { name: "Not in the catalogue" } },
    { product: { override: true, name: "Without a name to find it by" } },
  );
  expect(await product("shirt")).toMatchObject({ name: "Shirt", price: 900n });
  const mug = await product("mug");
  expect(mug).toMatchObject({ metadata: { a: 1 } });
  expect(await sku("mug-red")).toMatchObject({ productId: mug.id, sku: "Red", price: 450n });
  await expect(product("quiet")).rejects.toMatchObject({ key: "not_found" });
});

test("overrides nothing if the order cannot be stored", async () => {
  const { call, product } = createShop();
  const line = { sourceId: "shirt", product: { override: true, price: 900n } };
  const overriding = {
    projectId: call.project.id,
    now: call.now,
    lines: [line] as OrderItemInput[],
  };
  const storing = upsertOverrides(deps, overriding, () => Promise.reject(new Error("no room")));
  await expect(storing).rejects.toThrow("no room");
  await expect(product("shirt")).rejects.toMatchObject({ key: "not_found" });
});

test("overwrites sent fields, keeps the others, and applies the last of several lines", async () => {
  const { order, product, sku, call } = createShop();
  const created = await products.createProduct(
    { sourceId: "shirt", name: "Shirt", price: 900n, metadata: { a: 1, b: 2 }, imageUrl: "x" },
    call,
  );
  await products.createSku({ productId: "shirt", sourceId: "l", sku: "L", price: 950n }, call);
  await order(
    { productId: created.id, product: { override: true, price: 800n, metadata: { b: 3 } } },
    {
      skuId: "l",
      product: { override: true, metadata: { c: 4 } },
      sku: { override: true, price: 1n },
    },
    { productId: "shirt", product: { override: true, price: 700n } },
    { productId: "prod_unknown", product: { override: true, name: "nothing" } },
    { sourceId: "shirt", product: { override: true, price: -5n } },
  );
  expect(await product("shirt")).toMatchObject({
    id: created.id,
    name: "Shirt",
    price: 700n,
    imageUrl: "x",
    metadata: { a: 1, b: 3, c: 4 },
  });
  expect(await sku("l")).toMatchObject({ sku: "L", price: 1n });
});

test("does not write entries that would not change", async () => {
  const { order, product } = createShop();
  const line = {
    sourceId: "shirt",
    product: { override: true, name: "Shirt", metadata: { a: 1 } },
  };
  await order(line);
  await order(line);
  expect((await product("shirt")).updatedAt).toBeUndefined();
  await order({ ...line, product: { ...line.product, name: "Blouse" } });
  expect(await product("shirt")).toMatchObject({ name: "Blouse", updatedAt: expect.anything() });
});

test("stores concurrent orders that override the same products", async () => {
  const { order, product } = createShop();
  const line = (name: string, round: number) => ({
    sourceId: name,
    product: { override: true, name: `${name} ${round}`, metadata: { [round]: true } },
    sku: { override: true, sourceId: `${name}-sku`, price: BigInt(round) },
  });
  await Promise.all(
    Array.from({ length: 20 }, (_, round) => {
      const lines = ["a", "b", "c", "d"].map((name) => line(name, round));
      return order(...(round % 2 === 0 ? lines : lines.toReversed()));
    }),
  );
  const created = await product("c");
  expect(Object.keys(created.metadata ?? {})).toHaveLength(20);
  expect(created.skus?.total).toBe(1n);
});

test("needs a constant number of statements for an order of 500 lines", async () => {
  const { call, product } = createShop();
  let statements = 0;
  const counting: Pick<Deps, "db" | "newId"> = {
    newId,
    db: {
      ...db,
      query: (...said) => {
        statements += 1;
        return db.query(...said);
      },
      transaction: (work, options) =>
        db.transaction(
          (tx) =>
            work({
              ...tx,
              query: (...said) => {
                statements += 1;
                return tx.query(...said);
              },
            }),
          options,
        ),
    },
  };
  const items = Array.from({ length: 500 }, (_, index) => ({
    sourceId: `p${index}`,
    product: { override: true, price: BigInt(index) },
    sku: { override: true, sourceId: `s${index}` },
  })) as OrderItemInput[];
  await write(counting, call, items);
  await write(
    counting,
    call,
    items.map((item) => ({ ...item, product: { ...item.product!, price: 7n } })),
  );
  expect(statements).toBeLessThanOrEqual(10);
  expect(await product("p499")).toMatchObject({ price: 7n, skus: { total: 1n } });
});
