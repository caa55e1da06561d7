import type { ItemRef, Rule, ValidationRule } from "@scrip/rules";

/** An object that a rule names, and where the request names it, such as `applicable_to.included.0.id`. */
export type RuleReference = {
  readonly path: string;
  readonly object: ItemRef["object"] | "product_or_sku" | "segment";
  readonly id: string;
};

/**
 * The references of a rule to objects that only Scrip creates. A source id, and an id without the prefix
 * of Scrip's ids, may be that of a product outside the catalogue, which order lines may have.
 * docs/validation-rules.md#references
 */
export const referencesOf = ({
  rules,
  bundle,
  scope,
}: ValidationRule): readonly RuleReference[] => [
  ...[...rules.values()].flatMap((rule) => ofRule(rule, "rules")),
  ...[...(bundle?.rules ?? [])].flatMap(([number, { items }]) =>
    ofItems(items, `bundle_rules.${number}.conditions.$is`),
  ),
  ...(["included", "excluded"] as const).flatMap((list) =>
    (scope?.[list] ?? []).flatMap((entry, index) => {
      const path = `applicable_to.${list}.${index}`;
      return [
        ...ofItem({ ...entry, type: null }, `${path}.id`),
        ...ofItem(
          { object: "product", id: entry.productId, sourceId: null, type: null },
          `${path}.product_id`,
        ),
      ];
    }),
  ),
];

function ofRule(rule: Rule, parent: string): readonly RuleReference[] {
  const path = `${parent}.${rule.number}`;
  const own = rule.conditions.flatMap((condition): readonly RuleReference[] => {
    const operands = `${path}.conditions.${"operator" in condition ? condition.operator : ""}`;
    if (condition.kind === "items") return ofItems(condition.items, operands);
    if (rule.name !== "customer.segment" || condition.kind !== "equality") return [];
    return condition.operands.flatMap((operand, index): RuleReference[] =>
      operand.kind === "text"
        ? [{ path: `${operands}.${index}`, object: "segment", id: operand.value }]
        : [],
    );
  });
  const children = [...(rule.children?.rules.values() ?? [])];
  return [...own, ...children.flatMap((child) => ofRule(child, `${path}.rules`))];
}

const ofItems = (items: readonly ItemRef[], path: string): readonly RuleReference[] =>
  items.flatMap((item, index) => ofItem(item, `${path}.${index}`));

function ofItem({ object, id, sourceId, type }: ItemRef, path: string): readonly RuleReference[] {
  // Collections exist only here, and have no source ids.
  if (object === "products_collection") return [{ path, object, id: id ?? sourceId ?? "" }];
  if (id === null || !/^(?:prod|sku)_/.test(id)) return [];
  return [{ path, object: type === "product_or_sku" ? type : object, id }];
}
