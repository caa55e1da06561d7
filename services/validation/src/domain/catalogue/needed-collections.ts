import type { ItemRef, Rule, ValidationRule } from "@scrip/rules";

/** The collections that rules name: whether a line is in them has to be looked up before. */
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
