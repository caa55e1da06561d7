import { RULE_NAMES } from "@scrip/rules";
import { describe, expect, test } from "vitest";

import { buildRule, buildSingleRule } from "../../../test/builders.ts";
import { ignoredConditions, ignoredParts, SCENARIOS } from "./qualification-scenario.ts";

describe("ignoredConditions", () => {
  test("ignores budgets in every scenario, and nothing else in ALL", () => {
    const { rules, bundles, rejections } = ignoredConditions(SCENARIOS.ALL, true);
    expect([...rules].toSorted()).toEqual(
      RULE_NAMES.filter((name) => /^campaign\.|\.count\b|gift\.amount/.test(name))
        .filter((name) => name !== "order.items.count")
        .toSorted(),
    );
    expect([bundles, rejections?.size]).toEqual([false, 0]);
  });

  test("evaluates only rules about the customer in AUDIENCE_ONLY", () => {
    const { rules } = ignoredConditions(SCENARIOS.AUDIENCE_ONLY, true);
    expect(RULE_NAMES.filter((name) => !rules.has(name))).toEqual([
      "customer.segment",
      "customer.metadata",
      "customer.loyalty.tier",
      "publication.redeemable_by_linked_customer",
    ]);
  });

  test("never ignores rules that need a customer without one", () => {
    for (const scenario of Object.values(SCENARIOS)) {
      const { rules } = ignoredConditions(scenario, false);
      expect(rules.has("customer.metadata")).toBe(false);
      expect(rules.has("redemption.count.per_customer")).toBe(false);
      expect(rules.has("campaign.redemptions.count")).toBe(true);
    }
  });

  test("lists the ignored parts of a rule", () => {
    const ignored = ignoredConditions(SCENARIOS.ALL, true);
    expect(ignoredParts(buildSingleRule("order.amount", { $more_than: [1] }), ignored)).toEqual([]);
    const count = { name: "redemption.count.daily", conditions: { $less_than: [5] } };
    const bundleRules = { 1: { name: "order.items.any", conditions: { $is: ["prod_1"] } } };
    const rule = buildRule("val_1", { 1: count, 2: count }, { bundleRules });
    expect(ignoredParts(rule, ignored)).toEqual(["redemption.count.daily"]);
    expect(ignoredParts(rule, ignoredConditions(SCENARIOS.PRODUCTS, true))).toEqual([
      "redemption.count.daily",
      "bundle_rules",
    ]);
  });
});
