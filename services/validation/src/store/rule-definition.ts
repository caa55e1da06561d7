import { fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import {
  type RuleScope,
  type RuleScopeEntry,
  RuleScopeSchema,
} from "@scrip/proto/scrip/validation/v1/rules_pb";
import {
  type ItemScopeDefinition,
  type ScopeEntryDefinition,
  UNIT_BUDGET_NAMES,
  type UnitBudgetDefinition,
  type UnitBudgetName,
  type ValidationRuleDefinition,
} from "@scrip/rules";

import type { RuleContent } from "./validation-rules.ts";

/** The stored rule as the input of the rule parser. */
export function ruleDefinitionFromRow(id: string, content: RuleContent): ValidationRuleDefinition {
  return {
    id,
    rules: content.rules,
    bundleRules: content.bundle_rules,
    applicableTo:
      content.applicable_to === null
        ? null
        : itemScopeFromProto(ruleScopeFromRow(content.applicable_to)),
    errorMessage: content.error_message,
  };
}

export const ruleScopeFromRow = (stored: JsonObject): RuleScope =>
  fromJson(RuleScopeSchema, stored);

export const ruleScopeToRow = (scope: RuleScope): JsonObject =>
  toJson(RuleScopeSchema, scope, { useProtoFieldName: true }) as JsonObject;

const itemScopeFromProto = (scope: RuleScope): ItemScopeDefinition => ({
  included: scope.included.map(scopeEntryFromProto),
  excluded: scope.excluded.map(scopeEntryFromProto),
  includedAll: scope.includedAll,
});

const scopeEntryFromProto = (entry: RuleScopeEntry): ScopeEntryDefinition => ({
  object: entry.object,
  id: entry.id ?? null,
  sourceId: entry.sourceId ?? null,
  productId: entry.productId ?? null,
  strict: entry.strict ?? null,
  effect: entry.effect ?? null,
  target: entry.target ?? null,
  skipInitially: entry.skipInitially ?? null,
  repeat: entry.repeat ?? null,
  price: entry.price ?? null,
  priceFormula: entry.priceFormula ?? null,
  quantityLimit: entry.quantityLimit ?? null,
  aggregatedQuantityLimit: entry.aggregatedQuantityLimit ?? null,
  amountLimit: entry.amountLimit ?? null,
  aggregatedAmountLimit: entry.aggregatedAmountLimit ?? null,
  budgets: UNIT_BUDGET_NAMES.flatMap((name) => unitBudgetFromProto(name, entry)),
});

function unitBudgetFromProto(
  name: UnitBudgetName,
  entry: RuleScopeEntry,
): readonly UnitBudgetDefinition[] {
  const field = BUDGET_FIELDS[name];
  const limit = entry[field] ?? null;
  const formula = entry[`${field}Formula`] ?? null;
  return limit === null && formula === null ? [] : [{ name, limit, formula }];
}

const BUDGET_FIELDS = {
  product_campaign: "productCampaignQuantityLimit",
  product_customer_campaign: "productCustomerCampaignQuantityLimit",
  product_promotion_tier: "productPromotionTierQuantityLimit",
  product_customer_promotion_tier: "productCustomerPromotionTierQuantityLimit",
  product_in_collection_campaign: "productInCollectionCampaignQuantityLimit",
  product_in_collection_customer_campaign: "productInCollectionCustomerCampaignQuantityLimit",
  product_in_collection_promotion_tier: "productInCollectionPromotionTierQuantityLimit",
  product_in_collection_customer_promotion_tier:
    "productInCollectionCustomerPromotionTierQuantityLimit",
} as const satisfies Record<UnitBudgetName, keyof RuleScopeEntry>;
