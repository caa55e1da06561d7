import { type EventHandler, eventMessage } from "@scrip/events";
import { eraseResponses } from "@scrip/idempotency";
import type { Queryable } from "@scrip/postgres";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";

/** Erases permanently deleted customers from stored responses; their rows were deleted with them. Repeatable. */
export const onCustomerDeleted =
  (db: Queryable): EventHandler =>
  async (events) => {
    for (const event of events) {
      const deleted = eventMessage(event, CustomerDeletedSchema);
      if (deleted?.permanent === true) await eraseResponses(db, deleted);
    }
  };
