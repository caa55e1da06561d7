import { type MessageInitShape, create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ProjectStackingRules,
  ProjectStackingRulesSchema,
  type CreateStackingRulesRequest,
  type UpdateStackingRulesRequest,
} from "@scrip/proto/scrip/validation/v1/stacking_rules_pb";
import type { StackingRulesSchema } from "@scrip/proto/scrip/validation/v1/validations_pb";

import {
  type StackingRules,
  resolveStackingRules,
  DEFAULT_STACKING_RULES,
  type StackingOptions,
} from "../domain/stacking/stacking-rules.ts";
import type { StackingRulesRow } from "../store/stacking-rules.ts";

export function stackingRulesToProto(
  rules: StackingRules,
): MessageInitShape<typeof StackingRulesSchema> {
  return {
    redeemablesLimit: BigInt(rules.redeemablesLimit),
    applicableRedeemablesLimit: BigInt(rules.applicableRedeemablesLimit),
    applicableRedeemablesPerCategoryLimit: BigInt(rules.applicableRedeemablesPerCategoryLimit),
    applicableRedeemablesCategoryLimits: Object.fromEntries(
      Object.entries(rules.applicableRedeemablesCategoryLimits).map(([id, limit]) => [
        id,
        BigInt(limit),
      ]),
    ),
    applicableExclusiveRedeemablesLimit: BigInt(rules.applicableExclusiveRedeemablesLimit),
    applicableExclusiveRedeemablesPerCategoryLimit: BigInt(
      rules.applicableExclusiveRedeemablesPerCategoryLimit,
    ),
    exclusiveCategories: [...rules.exclusiveCategories],
    jointCategories: [...rules.jointCategories],
    redeemablesApplicationMode: rules.redeemablesApplicationMode,
    redeemablesSortingRule: rules.redeemablesSortingRule,
    redeemablesProductsApplicationMode: rules.redeemablesProductsApplicationMode,
    redeemablesNoEffectRule: rules.redeemablesNoEffectRule,
    noEffectSkipCategories: [...rules.noEffectSkipCategories],
    noEffectRedeemAnywayCategories: [...rules.noEffectRedeemAnywayCategories],
    redeemablesRollbackOrderMode: rules.redeemablesRollbackOrderMode,
    groupedRedeemablesSortingRule: rules.groupedRedeemablesSortingRule,
    discountCalculationMode: rules.discountCalculationMode,
    initialAmountModeCategories: [...rules.initialAmountModeCategories],
    discountedAmountModeCategories: [...rules.discountedAmountModeCategories],
  };
}

export function projectStackingRulesToProto(row: StackingRulesRow): ProjectStackingRules {
  const { $typeName: _, ...options } = stackingRulesToProto(resolveStackingRules(row.options));
  return create(ProjectStackingRulesSchema, {
    ...options,
    id: row.id,
    createdAt: timestampFromDate(row.created_at),
    ...(row.updated_at !== null && { updatedAt: timestampFromDate(row.updated_at) }),
  });
}

type Request = CreateStackingRulesRequest | UpdateStackingRulesRequest;

type Name = keyof typeof DEFAULT_STACKING_RULES;

const NAMES = Object.keys(DEFAULT_STACKING_RULES) as readonly Name[];

/** Applies a request to the stored options; `null` resets an option to its default. */
export function updatedStackingOptions(stored: StackingOptions, request: Request): StackingOptions {
  const sent = new Set(request.updateMask?.paths);
  const entries = NAMES.map((name) => [
    name,
    sent.has(snakeCase(name)) ? plain(request[name]) : stored[name],
  ]);
  // The contract has checked the values, whose names are those of the domain.
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as StackingOptions;
}

const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function plain(value: Request[Name]): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([id, limit]) => [id, Number(limit)]));
}
