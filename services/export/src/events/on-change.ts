import { type EventHandler, eventMessage } from "@scrip/events";
import type { Database } from "@scrip/postgres";
import { ChangeAuditedSchema } from "@scrip/proto/scrip/events/v1/audit_pb";

import { appendInTransaction } from "../audit-log/append-entries.ts";

/** Stores the changes of all services in the audit log; an entry that is stored already stays as it is. */
export const onChange =
  (db: Database): EventHandler =>
  (batch) =>
    appendInTransaction(
      db,
      batch.flatMap((event) => eventMessage(event, ChangeAuditedSchema) ?? []),
    );
