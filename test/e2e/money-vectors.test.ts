import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import type {
  Figures,
  Vector,
  VectorBundle,
  VectorCatalogue,
  VectorRedeemable,
  VectorRule,
  Vectors,
} from "../contract/vector.ts";
import { type Api, type Json, managementApi, newCode, newProject } from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const file = new URL("../contract/money-vectors.json", import.meta.url);
const { catalogue, vectors } = JSON.parse(readFileSync(file, "utf8")) as Vectors;

/** Vectors that need other settings get a project of their own. */
const bySettings = new Map<string, Vector[]>();
for (const vector of vectors) {
  const key = JSON.stringify(vector.stacking ?? {});
  bySettings.set(key, [...(bySettings.get(key) ?? []), vector]);
}

describe.each(COMPOSITIONS)("golden vectors for money (%s)", async (composition) => {
  const stack = await sharedStack(composition);

  describe.each([...bySettings])("with stacking settings %s", async (settings, own) => {
    const { id, api } = await newProject(stack);
    await expectCreated(
      managementApi(stack).post(
        `/management/v1/projects/${id}/stacking-rules`,
        JSON.parse(settings),
      ),
    );
    const shop = await openShop(api, catalogue);

    test.each(own)("$id: $title", async (vector) => {
      const redeemables = await Promise.all(vector.redeemables.map((one) => shop.redeemable(one)));
      const items = (vector.order.items ?? []).map(({ product, sku, ...rest }) => ({
        ...rest,
        ...(product !== undefined && { product_id: shop.idOf(product) }),
        ...(sku !== undefined && { sku_id: shop.idOf(sku) }),
      }));
      const order = { ...vector.order, ...(vector.order.items !== undefined && { items }) };
      const response = await expectCreated(api.post("/v1/validations", { redeemables, order }));
      expect(response).toMatchObject({ valid: true });
      const { order: expected, redeemables: each = [expected] } = vector.expected;
      expect(shop.figuresOf(response["order"])).toEqual(expected);
      expect(
        response["redeemables"].map((one: Json) => shop.figuresOf(one["order"] as Json)),
      ).toEqual(each);
    });
  });
});

async function expectCreated(body: ReturnType<Api["post"]>): Promise<Json> {
  const response = await body;
  expect(response.status, response.text).toBe(200);
  return response.body;
}

/** Creates the catalogue in a project, and maps its names to the created ids and back. */
async function openShop(api: Api, { products, skus, collections }: VectorCatalogue) {
  const ids = new Map<string, string>();
  const idOf = (name: string): string => ids.get(name) ?? name;
  for (const [name, body] of Object.entries(products)) {
    ids.set(`$${name}`, (await expectCreated(api.post("/v1/products", { name, ...body })))["id"]);
  }
  for (const [name, { product, ...body }] of Object.entries(skus)) {
    const path = `/v1/products/${idOf(product)}/skus`;
    ids.set(`$${name}`, (await expectCreated(api.post(path, { sku: name, ...body })))["id"]);
  }
  for (const [name, listed] of Object.entries(collections)) {
    const body = {
      name,
      type: "STATIC",
      products: listed.map((member) => {
        const product = skus[member.slice(1)]?.product;
        return product === undefined
          ? { id: idOf(member), object: "product" }
          : { id: idOf(member), object: "sku", product_id: idOf(product) };
      }),
    };
    ids.set(`$${name}`, (await expectCreated(api.post("/v1/product-collections", body)))["id"]);
  }
  const names = new Map([...ids].map(([name, id]) => [id, name]));
  const nameOf = (id: string): string => names.get(id) ?? id;

  async function redeemable({ discount, gift, rules = [] }: VectorRedeemable): Promise<Json> {
    const created = await Promise.all(
      rules.map((rule) => expectCreated(api.post("/v1/validation-rules", ruleBody(rule, idOf)))),
    );
    const code = newCode("VECTOR");
    const voucher = {
      code,
      type: gift === undefined ? "DISCOUNT_VOUCHER" : "GIFT_VOUCHER",
      ...(discount !== undefined && { discount: withIds(discount, idOf) }),
      ...(gift !== undefined && { gift: { amount: gift.amount, effect: gift.effect } }),
      validation_rules: created.map((rule) => rule["id"]),
    };
    await expectCreated(api.post("/v1/vouchers", voucher));
    const credits = gift?.credits;
    return { object: "voucher", id: code, ...(credits !== undefined && { gift: { credits } }) };
  }

  return { idOf, redeemable, figuresOf: (order: Json) => figuresIn(order, nameOf) };
}

type Translate = (name: string) => string;

/** Replaces every name of the catalogue by its id. */
const withIds = (value: unknown, idOf: Translate): unknown =>
  JSON.parse(JSON.stringify(value), (_key, inner: unknown) =>
    typeof inner === "string" ? idOf(inner) : inner,
  ) as unknown;

function ruleBody({ applicable_to: scope, bundle_rules: bundle }: VectorRule, idOf: Translate) {
  return withIds(
    {
      name: newCode("rule"),
      rules: {},
      ...(scope !== undefined && {
        applicable_to: {
          included: scope.included ?? [],
          excluded: scope.excluded ?? [],
          included_all: scope.included_all ?? false,
        },
      }),
      ...(bundle !== undefined && { bundle_rules: bundleBody(bundle) }),
    },
    idOf,
  );
}

function bundleBody({ limit, multiply, parts }: VectorBundle): Json {
  const rules = parts.map(({ quantity, ...item }, at) => [
    String(at + 1),
    {
      name: "order.items.any",
      conditions: { $is: [item] },
      rules: { "1": { name: "order.items.aggregated_quantity", conditions: { $is: [quantity] } } },
    },
  ]);
  return { limit, multiply, ...Object.fromEntries(rules) };
}

const AMOUNTS = [
  "amount",
  "initial_amount",
  "discount_amount",
  "items_discount_amount",
  "total_discount_amount",
  "total_amount",
  "applied_discount_amount",
  "items_applied_discount_amount",
  "total_applied_discount_amount",
];
const ITEM_AMOUNTS = [
  "quantity",
  "initial_quantity",
  "discount_quantity",
  "price",
  "amount",
  "initial_amount",
  "discount_amount",
  "subtotal_amount",
  "applied_discount_amount",
  "applied_discount_quantity",
  "applied_quantity",
  "applied_quantity_amount",
];

const only = (from: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.flatMap((name) => (name in from ? [[name, from[name]]] : [])));

function figuresIn(order: Json, nameOf: Translate): Figures {
  const items = (order["items"] as readonly Json[]).map((item) => ({
    ...("product_id" in item && { product: nameOf(item["product_id"]) }),
    ...("sku_id" in item && { sku: nameOf(item["sku_id"]) }),
    ...only(item, ITEM_AMOUNTS),
  }));
  return { ...only(order, AMOUNTS), items } as unknown as Figures;
}
