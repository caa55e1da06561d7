import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type AuditEntry, AuditEntrySchema } from "@scrip/proto/scrip/export/v1/audit_log_pb";

import type { AuditRow } from "../store/audit-entries.ts";

export const auditEntryToProto = (row: AuditRow): AuditEntry =>
  create(AuditEntrySchema, {
    id: row.id,
    action: row.action,
    ...(row.resource !== "" && {
      resource: { type: row.resource, ...(row.resource_id !== "" && { id: row.resource_id }) },
    }),
    fields: row.fields,
    actor: { type: row.actor_type, id: row.actor_id },
    requestId: row.request_id,
    createdAt: timestampFromDate(row.occurred_at),
  });
