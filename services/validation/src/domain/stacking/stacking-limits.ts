import type { CategorySnapshot } from "../input/voucher.ts";
import { type CategoryKind, isExcluded } from "./exclusive-categories.ts";
import type { SkipKey } from "./skip-reasons.ts";
import type { StackingRules } from "./stacking-rules.ts";

/** The properties of a redeemable that limits depend on. */
export type StackingCandidate = {
  readonly categories: readonly CategorySnapshot[];
  readonly kind: CategoryKind;
};

/** The redeemables applied so far, as the limits count them. */
export type StackingTally = {
  applied: number;
  exclusive: number;
  failed: boolean;
  readonly byCategory: Map<string, number>;
  readonly exclusiveByCategory: Map<string, number>;
};

/** Why a candidate is skipped; `limit` is the limit that was reached. */
export type SkipCause = { readonly key: SkipKey; readonly limit?: number };

/**
 * Why a candidate is skipped without evaluation; null if it is evaluated. The order of the reasons
 * is public. docs/stacking.md#limits
 */
export function findSkipCause(
  { kind, categories }: StackingCandidate,
  tally: StackingTally,
  {
    stacking,
    hasApplicableExclusive,
  }: { stacking: StackingRules; hasApplicableExclusive: boolean },
): SkipCause | null {
  if (stacking.redeemablesApplicationMode === "ALL" && tally.failed) {
    return { key: "preceding_validation_failed" };
  }
  if (isExcluded(kind, hasApplicableExclusive)) return { key: "exclusion_rules_not_met" };
  const {
    applicableRedeemablesLimit: maxApplicable,
    applicableExclusiveRedeemablesLimit: maxExclusive,
    applicableExclusiveRedeemablesPerCategoryLimit: maxExclusivePerCategory,
  } = stacking;
  if (tally.applied >= maxApplicable) {
    return { key: "applicable_redeemables_limit_exceeded", limit: maxApplicable };
  }
  if (kind === "EXCLUSIVE") {
    if (tally.exclusive >= maxExclusive) {
      return { key: "applicable_exclusive_redeemables_limit_exceeded", limit: maxExclusive };
    }
    if (
      categories.some(
        ({ id }) => (tally.exclusiveByCategory.get(id) ?? 0) >= maxExclusivePerCategory,
      )
    ) {
      const key = "applicable_exclusive_redeemables_per_category_limit_exceeded";
      return { key, limit: maxExclusivePerCategory };
    }
  }
  const isFull = ({ id }: CategorySnapshot): boolean =>
    (tally.byCategory.get(id) ?? 0) >= categoryLimit(id, stacking);
  const full = categories.find(isFull);
  return full === undefined
    ? null
    : {
        key: "applicable_redeemables_per_category_limit_exceeded",
        limit: categoryLimit(full.id, stacking),
      };
}

const categoryLimit = (id: string, stacking: StackingRules): number =>
  stacking.applicableRedeemablesCategoryLimits[id] ??
  stacking.applicableRedeemablesPerCategoryLimit;

export const newTally = (): StackingTally => ({
  applied: 0,
  exclusive: 0,
  failed: false,
  byCategory: new Map(),
  exclusiveByCategory: new Map(),
});

export function countApplied({ kind, categories }: StackingCandidate, tally: StackingTally): void {
  tally.applied += 1;
  if (kind === "EXCLUSIVE") tally.exclusive += 1;
  for (const { id } of categories) {
    tally.byCategory.set(id, (tally.byCategory.get(id) ?? 0) + 1);
    if (kind === "EXCLUSIVE") {
      tally.exclusiveByCategory.set(id, (tally.exclusiveByCategory.get(id) ?? 0) + 1);
    }
  }
}
