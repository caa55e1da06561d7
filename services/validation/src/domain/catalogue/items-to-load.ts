import type { ItemRef, Rule, ValidationRule } from "@scrip/rules";

import type { Redeemable } from "../input/redeemable.ts";
import { discountOf, subjectOf } from "../input/subject.ts";

/**
 * Ids of the product collections that rules reference: their lines are matched before the decision.
 */
export const collectionsToLoad = (rules: readonly ValidationRule[]): readonly string[] => [
  ...new Set(rules.flatMap(referencedCollections)),
];

function referencedCollections({ rules, bundle, scope }: ValidationRule): readonly string[] {
  const conditions = [...rules.values()].flatMap(conditionItems);
  const parts = [...(bundle?.rules.values() ?? [])].flatMap(({ items }) => items);
  const entries = [...(scope?.included ?? []), ...(scope?.excluded ?? [])];
  return [...conditions, ...parts, ...entries].flatMap(({ object, id }) =>
    object === "products_collection" && id !== null ? [id] : [],
  );
}

const conditionItems = ({ conditions }: Rule): readonly ItemRef[] =>
  conditions.flatMap((condition) => (condition.kind === "items" ? condition.items : []));

/** Ids of the products and SKUs that unit discounts add. */
export const itemsToLoad = (redeemables: readonly Redeemable[]): readonly string[] => [
  ...new Set(redeemables.flatMap(addedItems)),
];

function addedItems(redeemable: Redeemable): readonly string[] {
  const subject = subjectOf(redeemable);
  const discount = subject && discountOf(subject);
  return discount?.type === "UNIT" ? discount.grants.flatMap(({ unitType }) => unitType ?? []) : [];
}
