import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { instantFromProto } from "@scrip/mapping";
import type { ChangeAudited } from "@scrip/proto/scrip/events/v1/audit_pb";
import {
  type AuditEntry as AuditEntryMessage,
  AuditEntrySchema,
} from "@scrip/proto/scrip/export/v1/audit_log_pb";

import type { AuditEntry } from "../audit-log/chain-entries.ts";
import type { AuditRow } from "../store/audit-entries.ts";

export const auditEntryToProto = (row: AuditRow): AuditEntryMessage =>
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

export const auditEntryFromEvent = (change: Readonly<ChangeAudited>): AuditEntry => ({
  projectId: change.projectId,
  id: change.id,
  action: change.action,
  resource: change.resource,
  resourceId: change.resourceId,
  fields: change.fields,
  actorType: change.actorType,
  actorId: change.actorId,
  requestId: change.requestId,
  at: change.date === undefined ? 0 : instantFromProto(change.date),
});
