import { type EventHandler, eventMessage } from "@scrip/events";
import { eraseResponses } from "@scrip/idempotency";
import type { Queryable } from "@scrip/postgres";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";

import { deletePartOfCustomer } from "../store/deleted-customers.ts";

/**
 * Deletes what the deletion of a customer left, and erases permanently deleted customers from stored responses. Each part is a
 * statement of its own, so an attempt that ends early is continued. Repeatable.
 */
export const onCustomerDeleted =
  (db: Queryable): EventHandler =>
  async (events) => {
    for (const event of events) {
      const deleted = eventMessage(event, CustomerDeletedSchema);
      if (deleted === undefined) continue;
      while (await deletePartOfCustomer(db, deleted));
      if (deleted.permanent) await eraseResponses(db, deleted);
    }
  };
