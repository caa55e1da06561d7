import {
  batchOf,
  buildStatement,
  column,
  type PartitionedTable,
  type ProjectQueryable,
  type Queryable,
} from "@scrip/postgres";

import { type AuditEntry, type ChainedEntry, entryKey } from "../audit-log/chain-entries.ts";

const DAY_MS = 24 * 3_600_000;

/** Few partitions, because a list looks into each. */
export const auditTable = (keepMs: number): PartitionedTable => ({
  table: "audit_entry",
  column: "occurred_at",
  everyMs: 30 * DAY_MS,
  keepMs,
});

type EntryName = Pick<AuditEntry, "projectId" | "id" | "at">;

/** Which entries are stored, by their keys. */
export async function findStoredEntries(
  db: Queryable,
  entries: readonly EntryName[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ project_id: string; id: string }>(findStatement({ entries }));
  return new Set(rows.map((row) => entryKey({ projectId: row.project_id, id: row.id })));
}

const findStatement = buildStatement({
  planning: "indexLookups",
  parts: {
    entries: batchOf<EntryName>({
      project_id: column.text(({ projectId }) => projectId),
      id: column.text(({ id }) => id),
      occurred_at: column.timestamp(({ at }) => at),
    }),
  },
  text: ({ entries }) => `
    select e.project_id, e.id
      from ${entries.rows("item")}
      join audit_entry e
        on e.project_id = item.project_id and e.id = item.id and e.occurred_at = item.occurred_at`,
});

/** Returns how many entries were inserted: those that were stored concurrently are not. */
export async function insertAuditEntries(
  tx: Queryable,
  entries: readonly ChainedEntry[],
): Promise<number> {
  const { rows } = await tx.query<{ inserted: number }>(insertStatement({ entries }));
  return rows[0]?.inserted ?? 0;
}

const insertStatement = buildStatement({
  planning: "indexLookups",
  parts: {
    entries: batchOf<ChainedEntry>({
      project_id: column.text(({ projectId }) => projectId),
      id: column.text(({ id }) => id),
      action: column.text(({ action }) => action),
      resource: column.text(({ resource }) => resource),
      resource_id: column.text(({ resourceId }) => resourceId),
      fields: column.json(({ fields }) => JSON.stringify(fields)),
      actor_type: column.text(({ actorType }) => actorType),
      actor_id: column.text(({ actorId }) => actorId),
      request_id: column.text(({ requestId }) => requestId),
      occurred_at: column.timestamp(({ at }) => at),
      position: column.int8(({ position }) => position),
      previous_hash: column.bytea(({ previousHash }) => previousHash),
      hash: column.bytea((entry) => entry.hash),
    }),
  },
  text: ({ entries }) => `
    with inserted as (
      insert into audit_entry (project_id, id, action, resource, resource_id, fields, actor_type, actor_id,
                               request_id, occurred_at, position, previous_hash, hash)
      select project_id, id, action, resource, resource_id,
             array(select jsonb_array_elements_text(fields)), actor_type, actor_id, request_id, occurred_at,
             position, previous_hash, hash
        from ${entries.rows("item")}
          on conflict do nothing
      returning 1
    )
    select count(*)::int4 as inserted from inserted`,
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
