import { type EventHandler, eventMessage } from "@scrip/events";
import { eraseResponses } from "@scrip/idempotency";
import type { Queryable } from "@scrip/postgres";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";

import { deletePartOfCustomer } from "../store/deleted-customers.ts";

/**
 * Deletes the rows of deleted customers that their deletion did not reach, and erases permanently deleted customers
 * from stored responses. Each part is a separate statement, so that an interrupted attempt is continued. Repeatable.
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
