export type DiscountType = "PERCENT" | "AMOUNT" | "UNIT" | "FIXED";

export type OrderEffect = "APPLY_TO_ORDER";

export type ItemEffect = "APPLY_TO_ITEMS";

export type AmountItemEffect =
  | ItemEffect
  | "APPLY_TO_ITEMS_BY_QUANTITY"
  | "APPLY_TO_ITEMS_PROPORTIONALLY"
  | "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY";

export type UnitEffect =
  | "ADD_NEW_ITEMS"
  | "ADD_MISSING_ITEMS"
  | "ADD_MANY_ITEMS"
  | "ADD_SAME_ITEMS"
  | "REPLACE_ITEMS";

export type DiscountEffect = OrderEffect | AmountItemEffect | UnitEffect;

/** One element of `units` as it is sent and stored. */
export type UnitDefinition = {
  readonly effect: DiscountEffect;
  readonly unitOff: bigint | null;
  readonly unitOffFormula: string | null;
  /** The id of a product or of a SKU. */
  readonly unitType: string | null;
};

/** A discount as it is sent and stored. Amounts are minor units. */
export type DiscountDefinition = {
  readonly type: DiscountType;
  readonly effect: DiscountEffect | null;
  readonly percentOff: string | null;
  readonly percentOffFormula: string | null;
  readonly amountOff: bigint | null;
  readonly amountOffFormula: string | null;
  readonly fixedAmount: bigint | null;
  readonly fixedAmountFormula: string | null;
  readonly amountLimit: bigint | null;
  readonly aggregatedAmountLimit: bigint | null;
  readonly unitOff: bigint | null;
  readonly unitOffFormula: string | null;
  /** The id of a product or of a SKU. */
  readonly unitType: string | null;
  readonly units: readonly UnitDefinition[];
};
