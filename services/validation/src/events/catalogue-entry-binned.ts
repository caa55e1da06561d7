import { create, toBinary } from "@bufbuild/protobuf";
import type { OutboxEvent } from "@scrip/events";
import { instantToProto } from "@scrip/mapping";
import { CatalogueEntryBinnedSchema } from "@scrip/proto/scrip/events/v1/products_pb";

import type { Kind } from "../store/catalogue.ts";

/** Changes of products and SKUs, key: the resource. Published by this service. */
export const PRODUCTS_TOPIC = "scrip.products.v1";

/** The event of a product or SKU that moved to the bin. */
export const catalogueEntryBinned = (
  id: string,
  entry: {
    readonly projectId: string;
    readonly kind: Kind;
    readonly id: string;
    readonly name: string | null;
    readonly productId?: string;
  },
  at: number,
): OutboxEvent => ({
  projectId: entry.projectId,
  id,
  topic: PRODUCTS_TOPIC,
  type: CatalogueEntryBinnedSchema.typeName,
  key: entry.id,
  payload: toBinary(
    CatalogueEntryBinnedSchema,
    create(CatalogueEntryBinnedSchema, {
      projectId: entry.projectId,
      kind: entry.kind,
      id: entry.id,
      ...(entry.name !== null && { name: entry.name }),
      ...(entry.productId !== undefined && { productId: entry.productId }),
      date: instantToProto(at),
    }),
  ),
});
