/** Number of bundles in the order, with their items. docs/order-calculation.md#bundles */
export type BundleResult = {
  readonly quantity: bigint;
  readonly limit: bigint;
  /** Units of complete bundles; if there is none, the units found for one bundle. */
  readonly identified: readonly IdentifiedItem[];
  /** Empty unless the quantity is zero. */
  readonly missing: readonly MissingItem[];
};

export type IdentifiedItem = {
  readonly id: string;
  readonly object: "product" | "sku";
  readonly itemIndex: number;
  readonly itemQuantity: bigint;
};

export type MissingItem = {
  readonly id: string;
  readonly object: "product" | "sku" | "products_collection";
  readonly itemQuantity: bigint;
};
