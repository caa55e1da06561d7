import type { ExportedObject } from "@scrip/exports";
import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import { type Page, type ProjectQueryable, type Queryable, readPage } from "@scrip/postgres";

import type { JobStatus, JsonObject } from "../domain/job.ts";

export type StoredFile = { readonly key: string; readonly size: number; readonly expiresAt: Date };

export type StoredExport = {
  readonly id: string;
  readonly object: string;
  readonly parameters: JsonObject;
  readonly channel: string;
  readonly createdAt: number;
  readonly token: string;
  readonly status: JobStatus;
  readonly error: string | null;
  readonly rows: bigint;
  /** Null: not written yet, expired or deleted. */
  readonly file: StoredFile | null;
};

type Row = {
  readonly id: string;
  readonly exported_object: string;
  readonly parameters: JsonObject;
  readonly channel: string;
  readonly created_at: Date;
  readonly token: string;
  readonly status: JobStatus;
  readonly last_error: string | null;
  readonly rows: bigint;
  readonly file_key: string | null;
  readonly file_size: bigint | null;
  readonly file_expires_at: Date | null;
};

const COLUMNS = `e.id, e.exported_object, e.parameters, e.channel, e.created_at, e.token, j.status,
  j.last_error, j.processed + j.in_slice as rows,
  case when e.file_expires_at > clock_timestamp() then e.file_key end as file_key, e.file_size,
  e.file_expires_at`;

const FROM = "from export e join job j on j.project_id = e.project_id and j.id = e.id";

export async function insertExport(
  db: Queryable,
  {
    projectId,
    id,
    object,
    parameters,
    createdAt,
    token,
  }: {
    readonly projectId: string;
    readonly id: string;
    readonly object: string;
    readonly parameters: JsonObject;
    readonly createdAt: Date;
    readonly token: string;
  },
): Promise<void> {
  await db.query(
    `insert into export (project_id, id, exported_object, parameters, created_at, token)
     values ($1, $2, $3, $4, $5, $6)`,
    [projectId, id, object, JSON.stringify(parameters), createdAt, token],
  );
}

export async function findExport(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<StoredExport | undefined> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} ${FROM} where e.project_id = $1 and e.id = $2`,
    [projectId, id],
  );
  return rows[0] && exportFromRow(rows[0]);
}

/** By its id alone: a link does not name the project. */
export async function findLinkedExport(
  db: Queryable,
  id: string,
): Promise<StoredExport | undefined> {
  const { rows } = await db.query<Row>(`select ${COLUMNS} ${FROM} where e.id = $1`, [id]);
  return rows[0] && exportFromRow(rows[0]);
}

const SORTABLE: Readonly<Record<string, string>> = {
  created_at: "e.created_at",
  status: "j.status",
};

/** One page and the total number of exports. */
export async function listExports(
  db: ProjectQueryable,
  {
    projectId,
    order,
    createdAt,
    page,
  }: {
    readonly projectId: string;
    readonly order: string;
    readonly createdAt: TimeRange | undefined;
    readonly page: Page;
  },
): Promise<{ readonly exports: readonly StoredExport[]; readonly total: bigint }> {
  const direction = order.startsWith("-") ? "desc" : "asc";
  const by = SORTABLE[order.replace(/^-/, "")] ?? "e.created_at";
  const values: unknown[] = [projectId];
  const conditions = [
    "e.project_id = $1",
    ...timeRangeConditions("e.created_at", createdAt, values),
  ];
  const { rows, total } = await readPage<Row>(db, {
    projectId,
    columns: COLUMNS,
    from: `${FROM} where ${conditions.join(" and ")}`,
    order: `${by} ${direction}, e.id ${direction}`,
    values,
    ...page,
  });
  return { exports: rows.map(exportFromRow), total };
}

/** Records the file of an export; returns false if the export was deleted. */
export async function storeFile(
  db: Queryable,
  {
    projectId,
    id,
    file,
  }: { readonly projectId: string; readonly id: string; readonly file: StoredFile },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update export set file_key = $3, file_size = $4, file_expires_at = $5
      where project_id = $1 and id = $2`,
    [projectId, id, file.key, file.size, file.expiresAt],
  );
  return rowCount === 1;
}

/** Deletes an export with its job; returns the key of its file. */
export async function deleteExport(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<{ readonly fileKey: string | null } | undefined> {
  const { rows } = await db.query<{ file_key: string | null }>(
    `with gone as (delete from job where project_id = $1 and id = $2 and queue = 'exports')
     select file_key from export where project_id = $1 and id = $2`,
    [projectId, id],
  );
  return rows[0] && { fileKey: rows[0].file_key };
}

/** Forgets expired files and returns their keys. */
export async function forgetExpiredFiles(db: Queryable, limit: number): Promise<readonly string[]> {
  const { rows } = await db.query<{ file_key: string }>(
    `with expired as (
       select project_id, id, file_key from export
        where file_expires_at <= clock_timestamp() and file_key is not null
        limit $1 for update skip locked)
     update export set file_key = null, file_size = null, file_expires_at = null
       from expired
      where export.project_id = expired.project_id and export.id = expired.id
     returning expired.file_key`,
    [limit],
  );
  return rows.map(({ file_key: key }) => key);
}

/** Objects whose exports contain data of customers. */
const WITH_CUSTOMERS: readonly ExportedObject[] = [
  "customer",
  "order",
  "publication",
  "redemption",
  "voucher",
];

/** The keys of the files whose rows may contain data of customers. */
export async function listFilesWithCustomers(
  db: Queryable,
  projectId: string,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ file_key: string }>(
    `select file_key from export
      where project_id = $1 and file_key is not null and exported_object = any($2::text[])`,
    [projectId, WITH_CUSTOMERS],
  );
  return rows.map(({ file_key: key }) => key);
}

/** Forgets files that were deleted before they expired. */
export async function forgetFiles(
  db: Queryable,
  projectId: string,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  await db.query(
    `update export set file_key = null, file_size = null, file_expires_at = null
      where project_id = $1 and file_key = any($2::text[])`,
    [projectId, keys],
  );
}

const exportFromRow = (row: Row): StoredExport => ({
  id: row.id,
  object: row.exported_object,
  parameters: row.parameters,
  channel: row.channel,
  createdAt: row.created_at.getTime(),
  token: row.token,
  status: row.status,
  error: row.last_error,
  rows: row.rows,
  file:
    row.file_key === null || row.file_size === null || row.file_expires_at === null
      ? null
      : { key: row.file_key, size: Number(row.file_size), expiresAt: row.file_expires_at },
});
