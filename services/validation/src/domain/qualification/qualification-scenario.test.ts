import { RULE_NAMES } from "@scrip/rules";
import { describe, expect, test } from "vitest";

import { buildRule, buildSingleRule } from "../../../test/builders.ts";
import { ignoredConditions, ignoredParts, SCENARIOS } from "./qualification-scenario.ts";

describe("what scenarios leave out", () => {
  test("budgets are never looked at, everything else is unless another scenario is named", () => {
    const { rules, bundles, rejections } = ignoredConditions(SCENARIOS.ALL, true);
    expect([...rules].toSorted()).toEqual(
      RULE_NAMES.filter((name) => /^campaign\.|\.count\b|gift\.amount/.test(name))
        .filter((name) => name !== "order.items.count")
        .toSorted(),
    );
    expect([bundles, rejections?.size]).toEqual([false, 0]);
  });

  test("who is asked about is asked nothing else", () => {
    const { rules } = ignoredConditions(SCENARIOS.AUDIENCE_ONLY, true);
    expect(RULE_NAMES.filter((name) => !rules.has(name))).toEqual([
      "customer.segment",
      "customer.metadata",
      "customer.loyalty.tier",
      "publication.redeemable_by_linked_customer",
    ]);
  });

  test("without a customer, what needs one fails in every scenario", () => {
    for (const scenario of Object.values(SCENARIOS)) {
      const { rules } = ignoredConditions(scenario, false);
      expect(rules.has("customer.metadata")).toBe(false);
      expect(rules.has("redemption.count.per_customer")).toBe(false);
      expect(rules.has("campaign.redemptions.count")).toBe(true);
    }
  });

  test("a rule tells what of it was left out", () => {
    const omits = ignoredConditions(SCENARIOS.ALL, true);
    expect(ignoredParts(buildSingleRule("order.amount", { $more_than: [1] }), omits)).toEqual([]);
    const count = { name: "redemption.count.daily", conditions: { $less_than: [5] } };
    const bundleRules = { 1: { name: "order.items.any", conditions: { $is: ["prod_1"] } } };
    const rule = buildRule("val_1", { 1: count, 2: count }, { bundleRules });
    expect(ignoredParts(rule, omits)).toEqual(["redemption.count.daily"]);
    expect(ignoredParts(rule, ignoredConditions(SCENARIOS.PRODUCTS, true))).toEqual([
      "redemption.count.daily",
      "bundle_rules",
    ]);
  });
});
