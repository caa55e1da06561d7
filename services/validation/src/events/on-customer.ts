import { type EventHandler, eventMessage } from "@scrip/events";
import { eraseResponses } from "@scrip/idempotency";
import type { Database } from "@scrip/postgres";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";

import { deleteOrdersOfCustomer, recordDeletedCustomer } from "../store/customer-orders.ts";

export const CUSTOMERS_TOPIC = "scrip.customers.v1";

/**
 * Deletes the orders of permanently deleted customers, and replaces the stored responses that name them. Orders have no
 * index on the customer: every order would pay for it, and deletions are rare. Repeatable.
 */
export const onCustomer =
  (db: Database): EventHandler =>
  async (events) => {
    for (const event of events) {
      const deleted = eventMessage(event, CustomerDeletedSchema);
      if (deleted?.permanent !== true) continue;
      const { projectId, customerId } = deleted;
      await recordDeletedCustomer(db, { projectId, customerId });
      let after: string | null = "";
      while (after !== null) {
        after = await deleteOrdersOfCustomer(db, { projectId, customerId, after });
      }
      await eraseResponses(db, { projectId, customerId });
    }
  };
