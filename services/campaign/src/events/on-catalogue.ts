import { type DeliveredEvent, type EventHandler, eventMessage, inboxHandler } from "@scrip/events";
import type { NewId } from "@scrip/ids";
import { optionalInstantFromProto } from "@scrip/mapping";
import type { Database } from "@scrip/postgres";
import { CatalogueEntryBinnedSchema } from "@scrip/proto/scrip/events/v1/products_pb";

import { insertBinEntries, type ProjectBinEntry } from "../store/bin-entries.ts";

export const PRODUCTS_TOPIC = "scrip.products.v1";

/** Lists products and SKUs that were deleted without `force` in the bin. */
export const onCatalogue = (db: Database, newId: NewId): EventHandler =>
  inboxHandler(db, {
    consumer: "catalogue-bin",
    read: entryOf,
    work: (tx, entries) =>
      insertBinEntries(
        tx,
        entries.map((entry) => ({ ...entry, id: newId("tbe") })),
      ),
  });

function entryOf(event: DeliveredEvent): Omit<ProjectBinEntry, "id"> | undefined {
  const binned = eventMessage(event, CatalogueEntryBinnedSchema);
  if (binned === undefined) return undefined;
  return {
    projectId: binned.projectId,
    resourceId: binned.id,
    resourceType: binned.kind === "sku" ? "sku" : "product",
    resourceName: binned.name ?? null,
    parentId: binned.productId ?? null,
    createdAt: optionalInstantFromProto(binned.date) ?? event.occurredAt.getTime(),
  };
}
