import { type Json, newCode } from "../../stack/api.ts";
import type { ErrorCase } from "./error-case.ts";
import { order, claimOrder } from "./fixtures.ts";
import type { Shop } from "./shop.ts";

const RULES = { "1": { name: "order.amount", conditions: { $more_than: [1] } }, logic: "1" };

const UNKNOWN_RULES = { "1": { name: "weather.sunny", conditions: { $is: [true] } }, logic: "1" };

/** An order that another request works on. */
const claimedOrder = async (shop: Shop): Promise<Json> => {
  const stored = await order(shop);
  await claimOrder(shop, stored["id"]);
  return stored;
};

/** Each line is in bounds, and their sum is not. */
const TOO_LARGE = { items: [{ amount: Number.MAX_SAFE_INTEGER }, { amount: 1 }] };

/** Two SKUs of one product. */
async function twoSkus(shop: Shop): Promise<{ product: Json; skus: readonly [Json, Json] }> {
  const product = await shop.product({ attributes: ["color"] });
  const path = `/v1/products/${product["id"]}/skus`;
  const create = (): Promise<Json> =>
    shop.create(path, { sku: "tea", source_id: newCode("sku"), attributes: { color: "green" } });
  return { product, skus: [await create(), await create()] };
}

const catalogue: readonly ErrorCase[] = [
  { rpc: "OrderService.CreateOrder", key: "invalid_order", request: { body: TOO_LARGE } },
  {
    rpc: "OrderService.CreateOrder",
    key: "duplicate_found",
    request: async (shop) => ({
      body: {
        id: (await order(shop))["id"],
        source_id: (await order(shop))["source_id"],
      },
    }),
  },
  {
    rpc: "OrderService.CreateOrder",
    key: "multiple_requests",
    request: async (shop) => ({
      body: { source_id: (await claimedOrder(shop))["source_id"], amount: 1 },
    }),
  },
  {
    rpc: "OrderService.UpdateOrder",
    key: "duplicate_found",
    request: async (shop) => ({
      params: { order_id: (await order(shop))["id"] },
      body: { source_id: (await order(shop))["source_id"] },
    }),
  },
  {
    rpc: "OrderService.UpdateOrder",
    key: "invalid_order",
    request: async (shop) => ({
      params: { order_id: (await order(shop))["id"] },
      body: TOO_LARGE,
    }),
  },
  {
    rpc: "OrderService.UpdateOrder",
    key: "multiple_requests",
    request: async (shop) => ({
      params: { order_id: (await claimedOrder(shop))["id"] },
      body: { amount: 1 },
    }),
  },
  {
    rpc: "ProductService.CreateProduct",
    key: "duplicate_found",
    request: async (shop) => ({
      body: {
        id: (await shop.product())["id"],
        source_id: (await shop.product())["source_id"],
      },
    }),
  },
  {
    rpc: "ProductService.UpdateProduct",
    key: "duplicate_found",
    request: async (shop) => ({
      params: { product_id: (await shop.product())["id"] },
      body: { source_id: (await shop.product())["source_id"] },
    }),
  },
  {
    rpc: "ProductService.DeleteProduct",
    key: "resource_in_use",
    request: async (shop) => {
      const { id } = await shop.product();
      const products = [{ id, object: "product" }];
      const collection = { name: "collection", type: "STATIC", products };
      await shop.create("/v1/product-collections", collection);
      return { params: { product_id: id } };
    },
  },
  {
    rpc: "ProductService.CreateSku",
    key: "duplicate_found",
    request: async (shop) => {
      const { product, skus } = await twoSkus(shop);
      const body = { id: skus[0]["id"], source_id: skus[1]["source_id"] };
      return { params: { product_id: product["id"] }, body };
    },
  },
  {
    rpc: "ProductService.CreateSku",
    key: "invalid_sku",
    request: async (shop) => ({
      params: { product_id: (await shop.product())["id"] },
      body: { sku: "tea", attributes: { size: "L" } },
    }),
  },
  {
    rpc: "ProductService.UpdateSku",
    key: "duplicate_found",
    request: async (shop) => {
      const { product, skus } = await twoSkus(shop);
      const params = { product_id: product["id"], sku_id: skus[0]["id"] };
      return { params, body: { source_id: skus[1]["source_id"] } };
    },
  },
  {
    rpc: "ProductService.UpdateSku",
    key: "invalid_sku",
    request: async (shop) => {
      const { product, skus } = await twoSkus(shop);
      const params = { product_id: product["id"], sku_id: skus[0]["id"] };
      return { params, body: { attributes: { size: "L" } } };
    },
  },
  {
    rpc: "ProductCollectionService.DeleteProductCollection",
    key: "resource_in_use",
    request: async (shop) => {
      const products = [{ id: (await shop.product())["id"], object: "product" }];
      const collection = { name: "collection", type: "STATIC", products };
      const { id } = await shop.create("/v1/product-collections", collection);
      await shop.rule("product.id", { $is: [id] });
      return { params: { product_collection_id: id } };
    },
  },
];

const rules: readonly ErrorCase[] = [
  {
    rpc: "ValidationRuleService.CreateValidationRule",
    key: "invalid_validation_rules",
    request: { body: { name: "rule", rules: UNKNOWN_RULES } },
  },
  {
    rpc: "ValidationRuleService.UpdateValidationRule",
    key: "invalid_validation_rules",
    request: async (shop) => ({
      params: { validation_rule_id: await shop.rule("order.amount", { $more_than: [1] }) },
      body: { rules: UNKNOWN_RULES },
    }),
  },
  {
    rpc: "ValidationRuleService.DeleteValidationRule",
    key: "resource_in_use",
    request: async (shop) => {
      const { id } = await shop.create("/v1/validation-rules", { name: "rule", rules: RULES });
      await shop.voucher({ validation_rules: [id] });
      return { params: { validation_rule_id: id } };
    },
  },
  {
    rpc: "ValidationRuleService.CreateAssignment",
    key: "duplicate_found",
    request: async (shop) => {
      const { id } = await shop.create("/v1/validation-rules", { name: "rule", rules: RULES });
      const code = await shop.voucher({ validation_rules: [id] });
      const body = { related_object_type: "voucher", related_object_id: code };
      return { params: { validation_rule_id: id }, body };
    },
  },
];

export const CATALOGUE_CASES: readonly ErrorCase[] = [...catalogue, ...rules];
