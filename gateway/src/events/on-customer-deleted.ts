import { type EventHandler, eventMessage } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";

import { eraseCompletedResponses } from "../store/idempotency.ts";

export const CUSTOMERS_TOPIC = "scrip.customers.v1";

/** Erases permanently deleted customers from completed responses. Repeatable. */
export const onCustomerDeleted =
  (db: Queryable): EventHandler =>
  async (events) => {
    for (const event of events) {
      const deleted = eventMessage(event, CustomerDeletedSchema);
      if (deleted?.permanent === true) await eraseCompletedResponses(db, deleted);
    }
  };
