import { type ApiError, errorToProto } from "@scrip/errors";
import { itemOutcome, rejectedItem } from "@scrip/mapping";
import { type ItemOutcome, ItemResult } from "@scrip/proto/scrip/common/v1/items_pb";

export type ImportedEntry = "created" | "updated" | ApiError;

export function importOutcome(imported: ImportedEntry, requestId: string): ItemOutcome {
  if (typeof imported !== "string") return rejectedItem(errorToProto(imported, requestId));
  return itemOutcome(imported === "created" ? ItemResult.CREATED : ItemResult.UPDATED);
}
