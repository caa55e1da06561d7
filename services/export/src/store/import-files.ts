import type { Queryable } from "@scrip/postgres";

export type FileKey = { readonly projectId: string; readonly fileId: string };

export type ImportFile = {
  readonly bytes: bigint;
  readonly parts: bigint;
  readonly records: bigint;
  readonly inQuotes: boolean;
};

/** Locks the file until the transaction ends, and creates it for its first part. */
export async function lockFile(
  tx: Queryable,
  { projectId, fileId }: FileKey,
): Promise<ImportFile & { readonly jobId: string | null }> {
  await tx.query(
    `insert into import_file (project_id, id) values ($1, $2) on conflict (project_id, id) do nothing`,
    [projectId, fileId],
  );
  const { rows } = await tx.query<{
    bytes: bigint;
    parts: bigint;
    records: bigint;
    in_quotes: boolean;
    job_id: string | null;
  }>(
    `select bytes, parts, records, in_quotes, job_id from import_file
      where project_id = $1 and id = $2
        for update`,
    [projectId, fileId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the file was not created");
  return { ...row, inQuotes: row.in_quotes, jobId: row.job_id };
}

/** Appends a part to a locked file. */
export async function appendPart(
  tx: Queryable,
  { projectId, fileId }: FileKey,
  part: {
    readonly file: ImportFile;
    readonly data: Uint8Array;
    readonly records: bigint;
    readonly inQuotes: boolean;
  },
): Promise<void> {
  await tx.query(
    `insert into import_part (project_id, file_id, number, start, data) values ($1, $2, $3, $4, $5)`,
    [projectId, fileId, part.file.parts, part.file.bytes, part.data],
  );
  await tx.query(
    `update import_file
        set parts = parts + 1, bytes = bytes + $3, records = $4, in_quotes = $5
      where project_id = $1 and id = $2`,
    [projectId, fileId, part.data.length, part.records, part.inQuotes],
  );
}

/** Assigns a file to its import; undefined if there is none, or another import has it. */
export async function claimFile(
  tx: Queryable,
  { projectId, fileId }: FileKey,
  jobId: string,
): Promise<{ readonly records: bigint; readonly bytes: bigint } | undefined> {
  const { rows } = await tx.query<{ records: bigint; bytes: bigint }>(
    `update import_file set job_id = $3
      where project_id = $1 and id = $2 and job_id is null
     returning records, bytes`,
    [projectId, fileId, jobId],
  );
  return rows[0];
}

/** The bytes of a file from a position, up to the end of the part that holds it; undefined at the end of the file. */
export async function readBytes(
  db: Queryable,
  { projectId, fileId }: FileKey,
  { start, length }: { readonly start: number; readonly length: number },
): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ data: Buffer }>(
    `select substring(data from ($3 - start + 1)::int for $4::int) as data
       from (select data, start from import_part
              where project_id = $1 and file_id = $2
                and number = $3::int8 / ${PART_BYTES}) part
      where $3 < start + length(data)`,
    [projectId, fileId, start, length],
  );
  return rows[0]?.data;
}

/** Size of every part of an uploaded file but the last, so that a position names its part. */
export const PART_BYTES = 1024 * 1024;

/** A part of a file whose parts are batches of items. */
export async function readPart(
  db: Queryable,
  { projectId, fileId }: FileKey,
  number: number,
): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ data: Buffer }>(
    `select data from import_part where project_id = $1 and file_id = $2 and number = $3`,
    [projectId, fileId, number],
  );
  return rows[0]?.data;
}

/** Deletes files whose imports have ended, and uploads of the day before that no import followed. */
export async function deleteReadFiles(db: Queryable): Promise<void> {
  await db.query(
    `delete from import_file f
      where (job_id is null and created_at < clock_timestamp() - interval '1 day')
         or exists (select from job
                     where job.project_id = f.project_id and job.id = f.job_id
                       and job.finished_at is not null)`,
  );
}
