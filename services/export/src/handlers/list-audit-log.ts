import { create } from "@bufbuild/protobuf";
import { timeRangeConditions } from "@scrip/filters";
import {
  type AuditLogService,
  AuditLogSchema,
  type ListAuditLogRequest,
} from "@scrip/proto/scrip/export/v1/audit_log_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { auditEntryToProto } from "../mapping/audit-entry.ts";
import { listAuditEntries } from "../store/audit-entries.ts";

const DEFAULT_LIMIT = 10n;

export const listAuditLog =
  (deps: Deps): Handler<typeof AuditLogService.method.listAuditLog> =>
  async (request, { project }) => {
    const limit = Number(request.limit ?? DEFAULT_LIMIT);
    const values: unknown[] = [project.id];
    const conditions = conditionsOf(request, values);
    const found = await listAuditEntries(deps.db, {
      projectId: project.id,
      conditions,
      values: values.slice(1),
      afterId: request.startingAfterId,
      descending: request.order !== "created_at",
      limit: limit + 1,
    });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const hasMore = found.length > limit;
    return create(AuditLogSchema, {
      data: page.map(auditEntryToProto),
      hasMore,
      ...(hasMore && last !== undefined && { moreStartingAfter: last.id }),
    });
  };

/** The filters of a request; their values are appended. */
function conditionsOf(request: ListAuditLogRequest, values: unknown[]): string[] {
  const { startDate: from, endDate: until, createdAt } = request;
  const equal = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`${name} = $${values.push(value)}`];
  return [
    ...timeRangeConditions("occurred_at", { ...createdAt, from, until }, values),
    ...equal("action", request.action),
    ...equal("resource", request.resourceType),
    ...equal("resource_id", request.resourceId),
    ...equal("actor_id", request.actorId),
    ...equal("request_id", request.requestId),
  ];
}
