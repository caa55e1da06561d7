import type {
  Known,
  Vector,
  VectorBundle,
  VectorDiscount,
  VectorEntry,
  VectorItem,
  VectorRule,
} from "../vector.ts";

/** Builders for cases. */

export type Case = Omit<Vector, "expected">;

type Rest = Pick<Vector, "stacking"> & { readonly known?: Known };

export const one = (
  [id, docs, title]: readonly [string, string, string],
  discount: VectorDiscount,
  [items, rules, rest]: readonly [readonly VectorItem[] | number, (readonly VectorRule[])?, Rest?],
): Case => ({
  id,
  docs,
  title,
  redeemables: [{ discount, ...(rules !== undefined && rules.length > 0 && { rules }) }],
  order: typeof items === "number" ? { amount: items } : { items },
  ...rest,
});

export const item = (
  product: string,
  quantity: number,
  rest: Partial<VectorItem> = {},
): VectorItem => ({
  product: `$${product}`,
  quantity,
  ...rest,
});

export const priced = (...lines: readonly (readonly [number, number])[]): VectorItem[] =>
  lines.map(([quantity, price]) => ({ quantity, price }));

export const only = (...included: readonly VectorEntry[]): VectorRule[] => [
  { applicable_to: { included } },
];

export const product = (name: string, rest: Partial<VectorEntry> = {}): VectorEntry => ({
  object: "product",
  id: `$${name}`,
  ...rest,
});

export const sku = (name: string, rest: Partial<VectorEntry> = {}): VectorEntry => ({
  object: "sku",
  id: `$${name}`,
  ...rest,
});

export const collection = (name: string, rest: Partial<VectorEntry> = {}): VectorEntry => ({
  object: "products_collection",
  id: `$${name}`,
  ...rest,
});

export const bundle = (
  limit: number,
  parts: readonly (readonly [VectorEntry["object"], string, number])[],
  multiply?: boolean,
): VectorRule => ({
  bundle_rules: {
    limit,
    ...(multiply !== undefined && { multiply }),
    parts: parts.map(([object, id, quantity]) => ({ object, id: `$${id}`, quantity })),
  } satisfies VectorBundle,
});

export const spec = (known: Omit<Known, "from">): Rest => ({
  known: { from: "specification", ...known },
});
export const hand = (known: Omit<Known, "from">): Rest => ({ known: { from: "hand", ...known } });

export const percent = (
  percent_off: number,
  rest: Partial<VectorDiscount> = {},
): VectorDiscount => ({
  type: "PERCENT",
  percent_off,
  ...rest,
});
export const amount = (amount_off: number, rest: Partial<VectorDiscount> = {}): VectorDiscount => ({
  type: "AMOUNT",
  amount_off,
  ...rest,
});
export const fixed = (
  fixed_amount: number,
  rest: Partial<VectorDiscount> = {},
): VectorDiscount => ({
  type: "FIXED",
  fixed_amount,
  ...rest,
});
export const units = (effect: string, unit_off: number, unit_type?: string): VectorDiscount => ({
  type: "UNIT",
  effect,
  unit_off,
  ...(unit_type !== undefined && { unit_type: `$${unit_type}` }),
});

export const ITEMS = { effect: "APPLY_TO_ITEMS" } as const;
export const ORDER = { effect: "APPLY_TO_ORDER" } as const;
export const BY_QUANTITY = { effect: "APPLY_TO_ITEMS_BY_QUANTITY" } as const;
export const SPLIT = { effect: "APPLY_TO_ITEMS_PROPORTIONALLY" } as const;
export const SPLIT_UNITS = { effect: "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY" } as const;
export const INITIAL = { stacking: { discount_calculation_mode: "INITIAL_AMOUNT" } } as const;
export const ONCE = { stacking: { redeemables_products_application_mode: "ONCE" } } as const;

export const sample = [item("mug", 2), item("poster", 3), item("tshirt", 3), item("bottle", 2)];
export const adventure = only(collection("adventure"));
