import { instantFromProto } from "@scrip/mapping";
import {
  batchOf,
  buildStatement,
  column,
  type PartitionedTable,
  type ProjectQueryable,
  type Queryable,
} from "@scrip/postgres";
import type { ChangeAudited } from "@scrip/proto/scrip/events/v1/audit_pb";

const DAY_MS = 24 * 3_600_000;

/** Few partitions, because a list looks into each. */
export const auditTable = (keepMs: number): PartitionedTable => ({
  table: "audit_entry",
  column: "occurred_at",
  everyMs: 30 * DAY_MS,
  keepMs,
});

/** Stores entries; repetitions change nothing. */
export async function insertAuditEntries(
  db: Queryable,
  entries: readonly Readonly<ChangeAudited>[],
): Promise<void> {
  if (entries.length > 0) await db.query(insertStatement({ entries }));
}

const insertStatement = buildStatement({
  planning: "indexLookups",
  parts: {
    entries: batchOf<Readonly<ChangeAudited>>({
      project_id: column.text(({ projectId }) => projectId),
      id: column.text(({ id }) => id),
      action: column.text(({ action }) => action),
      resource: column.text(({ resource }) => resource),
      resource_id: column.text(({ resourceId }) => resourceId),
      fields: column.json(({ fields }) => JSON.stringify(fields)),
      actor_type: column.text(({ actorType }) => actorType),
      actor_id: column.text(({ actorId }) => actorId),
      request_id: column.text(({ requestId }) => requestId),
      occurred_at: column.timestamp(({ date }) => (date ? instantFromProto(date) : 0)),
    }),
  },
  text: ({ entries }) => `
    insert into audit_entry (project_id, id, action, resource, resource_id, fields, actor_type, actor_id,
                             request_id, occurred_at)
    select project_id, id, action, resource, resource_id,
           array(select jsonb_array_elements_text(fields)), actor_type, actor_id, request_id, occurred_at
      from ${entries.rows("item")}
        on conflict do nothing`,
});

export type AuditListing = {
  readonly projectId: string;
  readonly conditions: readonly string[];
  /** Of `conditions`, whose parameters begin at $2. */
  readonly values: readonly unknown[];
  readonly afterId: string | undefined;
  readonly descending: boolean;
  readonly limit: number;
};

export type AuditRow = {
  readonly id: string;
  readonly action: string;
  readonly resource: string;
  readonly resource_id: string;
  readonly fields: string[];
  readonly actor_type: string;
  readonly actor_id: string;
  readonly request_id: string;
  readonly occurred_at: Date;
};

export async function listAuditEntries(
  db: ProjectQueryable,
  { projectId, conditions, values, afterId, descending, limit }: AuditListing,
): Promise<readonly AuditRow[]> {
  const parameters: unknown[] = [projectId, ...values];
  const after =
    afterId === undefined ? [] : [`id ${descending ? "<" : ">"} $${parameters.push(afterId)}`];
  const { rows } = await db.inProject(projectId).query<AuditRow>(
    `select id, action, resource, resource_id, fields, actor_type, actor_id, request_id, occurred_at
       from audit_entry
      where ${["project_id = $1", ...after, ...conditions].join(" and ")}
      order by id ${descending ? "desc" : "asc"}
      limit $${parameters.push(limit)}`,
    parameters,
  );
  return rows;
}
