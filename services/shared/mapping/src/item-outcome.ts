import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";
import type { ItemOutcome, ItemResult } from "@scrip/proto/scrip/common/v1/items_pb";

export const itemOutcome = (result: ItemResult): ItemOutcome => ({
  $typeName: "scrip.common.v1.ItemOutcome",
  outcome: { case: "result", value: result },
});

export const rejectedItem = (error: ErrorMessage): ItemOutcome => ({
  $typeName: "scrip.common.v1.ItemOutcome",
  outcome: { case: "rejected", value: error },
});
