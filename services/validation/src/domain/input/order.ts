import type { Metadata } from "@scrip/rules";

/**
 * The order of a decision, as it was sent or as it is stored. Amounts are minor units; null means
 * that the value is absent. docs/order-calculation.md#input-order
 */
export type OrderSnapshot = OrderContent & { readonly metadata: Metadata };

export type OrderContent = {
  readonly amount: bigint | null;
  /** Set for a stored order that redemptions have changed; null: equal to `amount`. */
  readonly initialAmount: bigint | null;
  /** Order-level discounts that a stored order already has. */
  readonly discountAmount: bigint;
  readonly lines: readonly LineSnapshot[];
};

/** One element of `order.items`. Lines of the same product are never merged. */
export type LineSnapshot = {
  readonly productId: string | null;
  readonly skuId: string | null;
  readonly productSourceId: string | null;
  readonly skuSourceId: string | null;
  /** Those product collections referenced by the rules of the request that contain the line. */
  readonly collections: readonly string[];
  /** null means one. */
  readonly quantity: bigint | null;
  readonly amount: bigint | null;
  readonly prices: LinePrices;
  /** Values of a stored line; null and zero for a line of the request. */
  readonly initialQuantity: bigint | null;
  readonly initialAmount: bigint | null;
  readonly discountAmount: bigint;
  readonly discountQuantity: bigint;
  readonly metadata: Metadata;
  readonly productMetadata: Metadata;
};

/** The possible sources of a unit price; the first one that exists wins. */
export type LinePrices = {
  readonly line: bigint | null;
  readonly inlineSku: bigint | null;
  readonly inlineProduct: bigint | null;
  readonly storedSku: bigint | null;
  readonly storedProduct: bigint | null;
};
