import type { JsonObject } from "@bufbuild/protobuf";
import {
  column,
  columnNames,
  type ColumnTable,
  type ProjectQueryable,
  type Queryable,
  readPage,
  insertInto,
} from "@scrip/postgres";

export type SegmentType = "static" | "auto-update" | "passive";

export type SegmentRow = {
  readonly id: string;
  readonly name: string;
  readonly type: SegmentType;
  /** Null for static segments. */
  readonly filter: JsonObject | null;
  readonly created_at: Date;
  readonly updated_at: Date | null;
  /** Whether the members of an `auto-update` segment are known. Null for others, which nobody enters or leaves. */
  readonly sync_status: "IN_PROGRESS" | "DONE" | null;
};

const columns: ColumnTable<SegmentRow> = {
  name: column.text(({ name }) => name),
  type: column.text(({ type }) => type),
  filter: column.json(({ filter }) => filter && JSON.stringify(filter)),
  created_at: column.timestamp((row) => row.created_at.getTime()),
  updated_at: column.timestamp((row) => row.updated_at && row.updated_at.getTime()),
  sync_status: column.text((row) => row.sync_status),
};

const COLUMNS = `id, ${columnNames(columns)}`;

/** Creations and deletions of segments of a project wait until the transaction ends, so that limits and references hold. */
export async function lockSegments(tx: Queryable, projectId: string): Promise<void> {
  await tx.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`segment ${projectId}`]);
}

export async function countSegments(
  tx: Queryable,
  projectId: string,
): Promise<{ readonly total: bigint; readonly dynamic: bigint }> {
  const { rows } = await tx.query<{ total: bigint; dynamic: bigint }>(
    `select count(*) as total, count(*) filter (where type <> 'static') as dynamic
       from segment where project_id = $1`,
    [projectId],
  );
  return rows[0] ?? { total: 0n, dynamic: 0n };
}

export async function insertSegment(
  tx: Queryable,
  projectId: string,
  row: SegmentRow,
): Promise<void> {
  await tx.query(insertStatement(projectId, row));
}

const insertStatement = insertInto("segment", columns);

/** Customers per insert: one statement for all could exceed the statement timeout. */
const CHUNK = 2_000;

/**
 * Adds customers to a static segment and returns the ids of those that exist. Waits for concurrent deletions,
 * so that a deleted customer is not added.
 */
export async function addToSegment(
  tx: Queryable,
  members: {
    readonly projectId: string;
    readonly segmentId: string;
    readonly customerIds: readonly string[];
  },
): Promise<ReadonlySet<string>> {
  const { projectId, segmentId, customerIds } = members;
  const added = new Set<string>();
  for (let from = 0; from < customerIds.length; from += CHUNK) {
    const { rows } = await tx.query<{ customer_id: string }>(
      `insert into segment_customer (project_id, segment_id, customer_id)
       select project_id, $2, id from customer where project_id = $1 and id = any($3::text[])
        order by id
          for key share
           on conflict do nothing
       returning customer_id`,
      [projectId, segmentId, customerIds.slice(from, from + CHUNK)],
    );
    for (const { customer_id: id } of rows) added.add(id);
  }
  return added;
}

export async function findSegment(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<SegmentRow | undefined> {
  const { rows } = await db.query<SegmentRow>(
    `select ${COLUMNS} from segment where project_id = $1 and id = $2`,
    [projectId, id],
  );
  return rows[0];
}

/** The segments that exist, of any projects. */
export async function findSegments(
  db: Queryable,
  segments: readonly { readonly projectId: string; readonly id: string }[],
): Promise<readonly (SegmentRow & { readonly projectId: string })[]> {
  if (segments.length === 0) return [];
  const { rows } = await db.query<SegmentRow & { projectId: string }>(
    `select project_id as "projectId", ${COLUMNS} from segment
      where (project_id, id) in (select * from unnest($1::text[], $2::text[]))`,
    [segments.map(({ projectId }) => projectId), segments.map(({ id }) => id)],
  );
  return rows;
}

/** The first segments whose filter names a segment, and their number. */
export async function findSegmentsNaming(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<{ readonly ids: readonly string[]; readonly total: bigint }> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from segment
      where project_id = $1
        and jsonb_path_exists(
              filter, '$.segments.conditions.*[*] ? (@ == $id)', jsonb_build_object('id', $2::text))
      order by id`,
    [projectId, id],
  );
  return { ids: rows.slice(0, 10).map((row) => row.id), total: BigInt(rows.length) };
}

export type SegmentListing = {
  readonly projectId: string;
  /** SQL over `segment`, and its parameters; the first is the project id. */
  readonly condition: string;
  readonly values: readonly unknown[];
  readonly limit: number;
  readonly offset: number;
};

/** One page of segments, newest first, and the number of segments on all pages. */
export async function listSegments(
  db: ProjectQueryable,
  { projectId, condition, values, limit, offset }: SegmentListing,
): Promise<{ readonly rows: readonly SegmentRow[]; readonly total: bigint }> {
  const from = `from segment where project_id = $1 and ${condition}`;
  return readPage<SegmentRow>(db, {
    projectId,
    columns: COLUMNS,
    from,
    order: "created_at desc, id desc",
    values,
    limit,
    offset,
  });
}

/** The members of a followed segment are deleted later, by `deleteMembersOfDeleted`. */
export async function deleteSegment(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<"deleted" | "not_found"> {
  const { rows } = await tx.query<{ deleted: boolean }>(
    `with deleted as (
       delete from segment where project_id = $1 and id = $2 returning project_id, id, sync_status
     ), followed as (
       insert into deleted_segment (project_id, id)
       select project_id, id from deleted where sync_status is not null
     )
     select exists (select from deleted) as deleted`,
    [projectId, id],
  );
  return rows[0]?.deleted === true ? "deleted" : "not_found";
}

export type ProjectSegmentRows = {
  readonly dynamic: readonly Pick<SegmentRow, "id" | "name" | "filter">[];
  readonly hasStatic: boolean;
};

/** For each project, in order: its segments with filters, and whether it has static segments. */
export async function findProjectSegments(
  db: Queryable,
  projectIds: readonly string[],
): Promise<readonly ProjectSegmentRows[]> {
  const { rows } = await db.query<ProjectSegmentRows & { project_id: string }>(
    `select p.project_id,
            coalesce(
              (select jsonb_agg(jsonb_build_object('id', id, 'name', name, 'filter', filter)
                                order by id)
                 from segment
                where project_id = p.project_id and type <> 'static'),
              '[]') as dynamic,
            exists (select from segment
                     where project_id = p.project_id and type = 'static') as "hasStatic"
       from unnest($1::text[]) as p (project_id)`,
    [projectIds],
  );
  const found = new Map(rows.map((row) => [row.project_id, row]));
  return projectIds.map((id) => found.get(id) ?? { dynamic: [], hasStatic: false });
}

export type Membership = {
  readonly projectId: string;
  readonly customerId: string;
  readonly segmentId: string;
  readonly name: string;
};

/** Memberships in static segments of customers of any projects. */
export async function findMemberships(
  db: Queryable,
  customers: readonly { readonly projectId: string; readonly id: string }[],
): Promise<readonly Membership[]> {
  if (customers.length === 0) return [];
  const { rows } = await db.query<{
    project_id: string;
    customer_id: string;
    segment_id: string;
    name: string;
  }>(
    `select m.project_id, m.customer_id, m.segment_id, s.name
             from segment_customer m
             join segment s on s.project_id = m.project_id and s.id = m.segment_id
            where (m.project_id, m.customer_id) in
                  (select * from unnest($1::text[], $2::text[]))`,
    [customers.map(({ projectId }) => projectId), customers.map(({ id }) => id)],
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    customerId: row.customer_id,
    segmentId: row.segment_id,
    name: row.name,
  }));
}
