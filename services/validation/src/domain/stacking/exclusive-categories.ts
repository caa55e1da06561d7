import type { CategorySnapshot } from "../input/voucher.ts";
import type { StackingRules } from "./stacking-rules.ts";

export type CategoryKind = "JOINT" | "EXCLUSIVE" | "COMMON";

/**
 * `categories[].stacking_rules_type`; a category listed as both is joint.
 * docs/stacking.md#categories
 */
export function categoryKind(categoryId: string, rules: StackingRules): CategoryKind {
  if (rules.jointCategories.includes(categoryId)) return "JOINT";
  return rules.exclusiveCategories.includes(categoryId) ? "EXCLUSIVE" : "COMMON";
}

/** Joint wins over exclusive, exclusive over common; a redeemable without categories is common. */
export function strongestKind(
  categories: readonly CategorySnapshot[],
  rules: StackingRules,
): CategoryKind {
  let strongest: CategoryKind = "COMMON";
  for (const { id } of categories) {
    const kind = categoryKind(id, rules);
    if (kind === "JOINT") return kind;
    if (kind === "EXCLUSIVE") strongest = kind;
  }
  return strongest;
}

/**
 * Once an exclusive redeemable can be applied, common ones are skipped; joint ones are not.
 * docs/stacking.md#categories
 */
export const isExcluded = (kind: CategoryKind, hasApplicableExclusive: boolean): boolean =>
  hasApplicableExclusive && kind === "COMMON";
