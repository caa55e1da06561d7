import type { Metadata } from "@scrip/rules";

/** A product or SKU of the catalogue that a discount adds or a rule references. */
export type CatalogueItem = {
  readonly productId: string;
  /** null for a product. */
  readonly skuId: string | null;
  readonly productSourceId: string | null;
  readonly skuSourceId: string | null;
  readonly name: string | null;
  /** `sku.sku`. */
  readonly skuLabel: string | null;
  /** Price of the SKU, otherwise of its product. */
  readonly price: bigint | null;
  readonly productPrice: bigint | null;
  readonly metadata: Metadata;
  readonly productMetadata: Metadata;
  readonly collections: readonly string[];
};
