import {
  createdOrUpdated,
  deleted,
  type PublishedChange,
  publishes,
  publishesItself,
} from "@scrip/idempotency";
import { OrderService } from "@scrip/proto/scrip/validation/v1/orders_pb";
import {
  ProductSchema,
  ProductService,
  SkuSchema,
} from "@scrip/proto/scrip/validation/v1/products_pb";
import { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";

import { PRODUCTS_TOPIC } from "./catalogue-entry-binned.ts";
import { ORDERS_TOPIC } from "./order-paid.ts";
import { ORDER_NAMES } from "./publish-order.ts";
import { RULES_TOPIC } from "./validation-rule-changed.ts";

const orders = OrderService.method;
const products = ProductService.method;
const rules = ValidationRuleService.method;

const RULE = "business_validation_rule";
/** What requests publish for webhooks. */
export const RESOURCE_CHANGES: readonly PublishedChange[] = [
  publishesItself(orders.createOrder, ORDERS_TOPIC, ORDER_NAMES),
  publishesItself(orders.updateOrder, ORDERS_TOPIC, ORDER_NAMES),
  publishes(
    products.createProduct,
    PRODUCTS_TOPIC,
    ["product.created", "product.updated"],
    (product) => [createdOrUpdated(ProductSchema, product, "product")],
  ),
  publishes(products.updateProduct, PRODUCTS_TOPIC, ["product.updated"]),
  publishesItself(products.deleteProduct, PRODUCTS_TOPIC, ["product.deleted"]),
  publishes(products.createSku, PRODUCTS_TOPIC, ["sku.created", "sku.updated"], (sku) => [
    createdOrUpdated(SkuSchema, sku, "sku"),
  ]),
  publishes(products.updateSku, PRODUCTS_TOPIC, ["sku.updated"]),
  publishesItself(products.deleteSku, PRODUCTS_TOPIC, ["sku.deleted"]),
  publishes(rules.createValidationRule, RULES_TOPIC, [`${RULE}.created`]),
  publishes(rules.updateValidationRule, RULES_TOPIC, [`${RULE}.updated`]),
  publishes(
    rules.deleteValidationRule,
    RULES_TOPIC,
    [`${RULE}.deleted`],
    (_, { validationRuleId }) => [deleted("validation_rules", validationRuleId)],
  ),
  publishes(rules.createAssignment, RULES_TOPIC, [`${RULE}.assignment.created`]),
  publishes(
    rules.deleteAssignment,
    RULES_TOPIC,
    [`${RULE}.assignment.deleted`],
    (_, { assignmentId }) => [deleted("validation_rules_assignment", assignmentId)],
  ),
];
