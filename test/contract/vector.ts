/**
 * The format of `money-vectors.json`, described in README.md. Amounts are minor units. Text that begins
 * with `/**
 refers to a catalogue entry by name.
 */
export type Vectors = {
  readonly catalogue: VectorCatalogue;
  readonly vectors: readonly Vector[];
};

export type VectorCatalogue = {
  readonly products: Readonly<Record<string, { readonly price?: number }>>;
  readonly skus: Readonly<Record<string, { readonly product: string; readonly price?: number }>>;
  readonly collections: Readonly<Record<string, readonly string[]>>;
};

export type Vector = {
  readonly id: string;
  /** The documentation section that the vector covers. */
  readonly docs: string;
  readonly title: string;
  readonly stacking?: VectorStacking;
  /** In request order; all of them apply. */
  readonly redeemables: readonly VectorRedeemable[];
  readonly order: VectorOrder;
  /** Results known independently of any program: from the specification, or calculated by hand. */
  readonly known?: Known;
  readonly expected: Expected;
};

export type Known = {
  readonly from: "specification" | "hand";
  readonly amount?: number;
  readonly total_amount?: number;
  readonly total_discount_amount?: number;
  /** Per order line, in response order. */
  readonly discounts?: readonly number[];
  readonly discount_quantities?: readonly number[];
  readonly quantities?: readonly number[];
};

export type VectorStacking = {
  readonly discount_calculation_mode?: "INITIAL_AMOUNT" | "DISCOUNTED_AMOUNT";
  readonly redeemables_products_application_mode?: "STACK" | "ONCE";
};

export type VectorRedeemable = {
  readonly discount?: VectorDiscount;
  readonly gift?: { readonly amount: number; readonly effect?: string; readonly credits?: number };
  readonly rules?: readonly VectorRule[];
};

export type VectorDiscount = {
  readonly type: "PERCENT" | "AMOUNT" | "FIXED" | "UNIT";
  readonly effect?: string;
  readonly percent_off?: number;
  readonly percent_off_formula?: string;
  readonly amount_off?: number;
  readonly amount_off_formula?: string;
  readonly fixed_amount?: number;
  readonly amount_limit?: number;
  readonly aggregated_amount_limit?: number;
  readonly unit_off?: number;
  readonly unit_off_formula?: string;
  readonly unit_type?: string;
  readonly units?: readonly VectorUnits[];
};

export type VectorUnits = {
  readonly effect: string;
  readonly unit_off: number;
  readonly unit_type?: string;
};

export type VectorRule = {
  readonly applicable_to?: {
    readonly included?: readonly VectorEntry[];
    readonly excluded?: readonly VectorEntry[];
    readonly included_all?: boolean;
  };
  readonly bundle_rules?: VectorBundle;
};

export type VectorEntry = {
  readonly object: "product" | "sku" | "products_collection";
  readonly id: string;
  readonly effect?: string;
  readonly target?: "ITEM" | "UNIT";
  readonly skip_initially?: number;
  readonly repeat?: number;
  readonly price?: number;
  readonly quantity_limit?: number;
  readonly aggregated_quantity_limit?: number;
  readonly amount_limit?: number;
  readonly aggregated_amount_limit?: number;
};

export type VectorBundle = {
  readonly limit?: number;
  readonly multiply?: boolean;
  readonly parts: readonly {
    readonly object: VectorEntry["object"];
    readonly id: string;
    readonly quantity: number;
  }[];
};

export type VectorOrder = {
  readonly amount?: number;
  readonly items?: readonly VectorItem[];
};

export type VectorItem = {
  readonly product?: string;
  readonly sku?: string;
  readonly quantity?: number;
  readonly price?: number;
  readonly amount?: number;
};

/** The order after all redeemables and, if there are several, after each. */
export type Expected = { readonly order: Figures; readonly redeemables?: readonly Figures[] };

export type Figures = {
  readonly amount: number;
  readonly initial_amount: number;
  readonly discount_amount: number;
  readonly items_discount_amount: number;
  readonly total_discount_amount: number;
  readonly total_amount: number;
  readonly applied_discount_amount: number;
  readonly items_applied_discount_amount: number;
  readonly total_applied_discount_amount: number;
  readonly items: readonly ItemFigures[];
};

export type ItemFigures = {
  /** Absent for a line without a product. */
  readonly product?: string;
  readonly sku?: string;
  readonly quantity: number;
  readonly initial_quantity: number;
  readonly discount_quantity: number;
  readonly price?: number;
  readonly amount: number;
  readonly initial_amount: number;
  readonly discount_amount: number;
  readonly subtotal_amount: number;
  readonly applied_discount_amount: number;
  readonly applied_discount_quantity: number;
  readonly applied_quantity: number;
  readonly applied_quantity_amount: number;
};
