import { type EventHandler, eventMessage } from "@scrip/events";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";

import type { Deps } from "../deps.ts";
import { forgetFiles, listFilesWithCustomers } from "../store/exports.ts";
import { eraseCustomerJobs } from "../store/job-reports.ts";

export const CUSTOMERS_TOPIC = "scrip.customers.v1";

/**
 * Deletes the files of exports whose rows may contain a permanently deleted customer, and the reports of imports of
 * customers: nothing in them identifies the customer for certain, as columns are chosen. Repeatable.
 */
export const onCustomerDeleted =
  ({ db, files }: Pick<Deps, "db" | "files">): EventHandler =>
  async (events) => {
    for (const event of events) {
      const deleted = eventMessage(event, CustomerDeletedSchema);
      if (deleted?.permanent !== true) continue;
      const keys = await listFilesWithCustomers(db, deleted.projectId);
      for (const key of keys) await files.remove(key);
      await forgetFiles(db, deleted.projectId, keys);
      await eraseCustomerJobs(db, deleted.projectId);
    }
  };
