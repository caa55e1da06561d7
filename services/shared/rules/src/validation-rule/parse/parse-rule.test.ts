import { describe, expect, test } from "vitest";

import { buildDefinition, buildRule } from "../../../test/builders.ts";
import type { ScopeEntryDefinition } from "../model/definition.ts";
import { logicText } from "../model/logic.ts";
import { parseValidationRule } from "./parse-rule.ts";

const amount = { name: "order.amount", conditions: { $more_than: [1] } };

describe("a validation rule", () => {
  test("has its rules by number, and requires all without an expression", () => {
    const rule = buildRule({ 2: amount, 1: amount, logic: "  " });
    expect([...rule.rules.keys()]).toEqual([1, 2]);
    expect(logicText(rule.logic)).toBe("1 AND 2");
  });

  test("stores its messages for rejections", () => {
    const rule = buildRule(
      { 1: { ...amount, error: { message: "Spend more" } }, 2: amount },
      { errorMessage: "Not today" },
    );
    expect([rule.rules.get(1)?.message, rule.rules.get(2)?.message, rule.message]).toEqual([
      "Spend more",
      null,
      "Not today",
    ]);
  });

  test("reads the older name customer_segment as customer.segment", () => {
    const conditions = { $is: ["seg_1"] };
    const older = buildRule({ 1: { name: "customer_segment", conditions } });
    expect(older.rules.get(1)?.name).toBe("customer.segment");
    expect(older.rules.get(1)?.conditions).toEqual(
      buildRule({ 1: { name: "customer.segment", conditions } }).rules.get(1)?.conditions,
    );
  });

  test("accepts digits as text for numbers only", () => {
    const conditionsOf = (rule: object) => buildRule({ 1: rule }).rules.get(1)?.conditions;
    const name = "order.amount";
    expect(conditionsOf({ name, conditions: { $in: ["100", 200], $less_than: ["300"] } })).toEqual(
      conditionsOf({ name, conditions: { $in: [100, 200], $less_than: [300] } }),
    );
    const text = { name: "order.metadata", property: "size", conditions: { $is: ["100"] } };
    expect(conditionsOf(text)).toMatchObject([{ operands: [{ kind: "text", value: "100" }] }]);
  });

  test("may have no rules", () => {
    expect(logicText(buildRule({}).logic)).toBe("");
  });

  test.each<readonly [object, string]>([
    [{ one: amount }, "Property .rules.one is not a rule number"],
    [{ 0: amount }, "Property .rules.0 is not a rule number"],
    [{ 1: "amount" }, "Property .rules.1 must be object"],
    [{ 1: { conditions: {} } }, "Property .rules.1 should have required property 'name'"],
    [{ 1: { name: "order.total" } }, "Rule 'order.total' is unknown"],
    [{ 1: { name: "toString" } }, "Rule 'toString' is unknown"],
    [{ 1: { name: "order.amount" } }, "Rule 'order.amount' must have 'conditions'"],
    [
      { 1: { name: "order.metadata", conditions: { $is: [1] } } },
      "Rule 'order.metadata' must have a 'property'",
    ],
    [
      { 1: { name: "order.amount", conditions: { $is: ["1e2"] } } },
      "Rule 'order.amount': operator '$is' needs operands of type number",
    ],
    [
      { 1: { name: "order.amount", conditions: { $contains: [1] } } },
      "Rule 'order.amount' does not support operator '$contains'",
    ],
    [
      { 1: { name: "order.items.any", conditions: { $is: [{ object: "product" }] } } },
      "Rule 'order.items.any': operator '$is' needs items with an 'id' or 'source_id'",
    ],
    [
      { 1: { name: "order.items.quantity", conditions: { $is: [1] } } },
      "Rule 'order.items.quantity' must be a sub-rule of 'order.items.any' or 'order.items.every' or 'order.items.none' or 'order.items.cheapest' or 'order.items.most_expensive' or 'product.id' or 'sku.id' or 'product.metadata'",
    ],
    [{ 1: { ...amount, rules: { 1: amount } } }, "Rule 'order.amount' must not have sub-rules"],
    [
      { 1: { name: "order.items.any", conditions: { $is: ["prod_1"] }, rules: { 1: amount } } },
      "Rule 'order.amount' must not be a sub-rule of 'order.items.any'",
    ],
    [
      { 1: { ...amount, error: { message: 5 } } },
      "Rule 'order.amount': its 'error.message' must be a text of up to 1000 characters",
    ],
    [
      { 1: amount, logic: "1 AND 2" },
      "Property .rules.logic refers to rule 2, which does not exist",
    ],
    [
      { 1: amount, logic: "1 AND" },
      "Property .rules.logic is not an expression: it ends too early",
    ],
    [{ 1: amount, logic: 1 }, "Property .rules.logic must be string"],
    [
      Object.fromEntries(Array.from({ length: 101 }, (_, n) => [n + 1, amount])),
      "Property .rules must NOT have more than 100 rules",
    ],
  ])("is rejected as %j", (rules, text) => {
    expect(parseValidationRule(buildDefinition(rules))).toEqual({ kind: "violation", text });
  });
});

describe("bundle rules", () => {
  const part = (quantity: number) => ({
    name: "order.items.any",
    conditions: { $is: [{ id: "prod_x", type: "product_or_sku", object: "product" }] },
    rules: {
      1: { name: "order.items.aggregated_quantity", conditions: { $is: [quantity] } },
      logic: "1",
    },
  });

  test("define items and quantities", () => {
    const { bundle } = buildRule(
      {},
      { bundleRules: { limit: 3, logic: "1 AND 2", 1: part(2), 2: { ...part(1), rules: {} } } },
    );
    expect(bundle).toMatchObject({ limit: 3n, multiply: true });
    expect([...(bundle?.rules ?? [])]).toMatchObject([
      [1, { items: [{ object: "product", id: "prod_x" }], quantity: 2n }],
      [2, { quantity: 1n }],
    ]);
  });

  test("count one bundle and multiply by default", () => {
    const of = (definition: object) =>
      buildRule({}, { bundleRules: { 1: part(1), ...definition } }).bundle;
    expect(of({})).toMatchObject({ limit: 1n, multiply: true });
    expect(of({ multiply: false })).toMatchObject({ multiply: false });
  });

  test.each<readonly [object, string]>([
    [{}, "Property .bundle_rules must have a rule"],
    [
      { 1: part(1), limit: 101 },
      "Property .bundle_rules.limit must be a whole number from 1 to 100",
    ],
    [{ 1: part(0) }, "Property .bundle_rules.1.rules must be a whole number from 1 to 100000"],
    [{ x: part(1) }, "Property .bundle_rules.x is not a rule number"],
    [
      { 1: part(1), 2: part(1), logic: "1 OR 2" },
      "Property .bundle_rules.logic must be numbers of rules joined by AND",
    ],
    [
      { 1: part(1), logic: "1 AND 2" },
      "Property .bundle_rules.logic refers to rule 2, which does not exist",
    ],
    [
      { 1: amount },
      "Property .bundle_rules.1 must be a rule 'order.items.any' with operator '$is'",
    ],
    [{ 1: part(1), multiply: "no" }, "Property .bundle_rules.multiply must be boolean"],
  ])("are rejected as %j", (bundleRules, text) => {
    const definition = buildDefinition({}, { bundleRules: bundleRules as never });
    expect(parseValidationRule(definition)).toEqual({ kind: "violation", text });
  });
});

describe("the scope of an effect", () => {
  const entry: ScopeEntryDefinition = {
    object: "product",
    id: "prod_1",
    sourceId: null,
    productId: null,
    strict: null,
    effect: null,
    target: null,
    skipInitially: null,
    repeat: null,
    price: null,
    priceFormula: null,
    quantityLimit: null,
    aggregatedQuantityLimit: null,
    amountLimit: null,
    aggregatedAmountLimit: null,
    budgets: [],
  };
  const scopeOf = (included: Partial<ScopeEntryDefinition>) =>
    parseValidationRule(
      buildDefinition(
        {},
        {
          applicableTo: { included: [{ ...entry, ...included }], excluded: [], includedAll: false },
        },
      ),
    );

  test("applies to every matching line by default", () => {
    expect(scopeOf({})).toMatchObject({
      kind: "rule",
      rule: {
        scope: {
          included: [
            {
              effect: "APPLY_TO_EVERY",
              target: "ITEM",
              skipInitially: 0n,
              repeat: 1n,
              budgets: [],
            },
          ],
        },
      },
    });
  });

  test("has budgets across all redemptions", () => {
    const budgets = [
      { name: "product_in_collection_customer_campaign", limit: 5n, formula: "1 + 1" } as const,
      { name: "product_promotion_tier", limit: 5n, formula: null } as const,
    ];
    expect(scopeOf({ budgets })).toMatchObject({
      rule: {
        scope: {
          included: [
            {
              budgets: [
                { scope: "campaign", perCustomer: true, limit: 5n },
                { scope: "promotion_tier", perCustomer: false, formula: null },
              ],
            },
          ],
        },
      },
    });
  });

  test.each<readonly [Partial<ScopeEntryDefinition>, string]>([
    [
      { object: "customer" },
      "Property .applicable_to.included[0].object must be equal to one of the allowed values: product, sku, products_collection",
    ],
    [{ id: null }, "Property .applicable_to.included[0] should have required property 'id'"],
    [{ repeat: 0n }, "Property .applicable_to.included[0].repeat must be >= 1"],
    [{ skipInitially: -1n }, "Property .applicable_to.included[0].skip_initially must be >= 0"],
    [{ quantityLimit: -1n }, "Property .applicable_to.included[0].quantity_limit must be >= 0"],
    [
      { target: "LINE" },
      "Property .applicable_to.included[0].target must be equal to one of the allowed values: ITEM, UNIT",
    ],
    [
      { priceFormula: "1 +" },
      "Property .applicable_to.included[0].price_formula is not a formula: it ends too early",
    ],
  ])("is rejected as %o", (included, text) => {
    expect(scopeOf(included)).toEqual({ kind: "violation", text });
  });
});
