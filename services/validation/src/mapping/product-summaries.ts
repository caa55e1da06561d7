import type { ProductSummary, SkuSummary } from "@scrip/proto/scrip/common/v1/discount_pb";

type SummarizedItem = {
  readonly productId: string;
  readonly productSourceId: string | null;
  readonly name: string | null;
  readonly skuId: string | null;
  readonly skuSourceId: string | null;
  readonly skuLabel: string | null;
};

/**
 * The product and SKU that a discount gives units of (docs/order-calculation.md#discount-object).
 */
export function productSummariesToProto(item: SummarizedItem): {
  product: ProductSummary;
  sku?: SkuSummary;
} {
  return {
    product: {
      $typeName: "scrip.common.v1.ProductSummary",
      id: item.productId,
      ...(item.productSourceId !== null && { sourceId: item.productSourceId }),
      ...(item.name !== null && { name: item.name }),
    },
    ...(item.skuId !== null && {
      sku: {
        $typeName: "scrip.common.v1.SkuSummary",
        id: item.skuId,
        ...(item.skuSourceId !== null && { sourceId: item.skuSourceId }),
        ...(item.skuLabel !== null && { sku: item.skuLabel }),
      },
    }),
  };
}
