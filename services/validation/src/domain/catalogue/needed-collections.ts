import type { ItemRef, Rule, ValidationRule } from "@scrip/rules";

/** The collections that rules name: whether a line is in them has to be looked up before. */
export const neededCollections = (rules: readonly ValidationRule[]): readonly string[] => [
  ...new Set(rules.flatMap(collectionsOf)),
];

function collectionsOf({ rules, bundle, scope }: ValidationRule): readonly string[] {
  const conditions = [...rules.values()].flatMap(itemsIn);
  const parts = [...(bundle?.rules.values() ?? [])].flatMap(({ items }) => items);
  const entries = [...(scope?.included ?? []), ...(scope?.excluded ?? [])];
  return [...conditions, ...parts, ...entries].flatMap(({ object, id }) =>
    object === "products_collection" && id !== null ? [id] : [],
  );
}

const itemsIn = ({ conditions }: Rule): readonly ItemRef[] =>
  conditions.flatMap((condition) => (condition.kind === "items" ? condition.items : []));
