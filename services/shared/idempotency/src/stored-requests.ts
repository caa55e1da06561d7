import { boundaryInstants, type PartitionedTable, type Queryable } from "@scrip/postgres";

const DAY_MS = 24 * 3_600_000;

/** How long a stored response is replayed (docs/idempotency.md#keys). */
const KEEP_HOURS = 48;

/** The table of keys with their responses, in the schema of each service. */
export const STORED_REQUEST_TABLE: PartitionedTable = {
  table: "stored_request",
  column: "created_at",
  everyMs: DAY_MS,
  keepMs: KEEP_HOURS * 3_600_000,
};

export type RequestKey = {
  readonly projectId: string;
  readonly key: string;
  readonly requestHash: Uint8Array;
};

/** The outcome of a request: its response or its error, as binary messages. */
export type Outcome =
  | { readonly kind: "response"; readonly message: Uint8Array }
  | { readonly kind: "error"; readonly error: Uint8Array };

export type StoredRequest = {
  readonly requestHash: Uint8Array;
  /** What the ids of the request's objects are derived from; null where they need not be repeatable. */
  readonly seed: string | null;
  readonly outcome: Outcome | undefined;
};

type Row = {
  request_hash: Buffer;
  seed: string | null;
  response: Buffer | null;
  error: Buffer | null;
};

const IS_ALIVE = `project_id = $1 and key = $2 and created_at >= now() - interval '${KEEP_HOURS} hours'`;

/**
 * SQL: inserts the key unless it exists. It is looked for in all partitions; near the boundary of two, concurrent
 * transactions meet in one that both write (`boundaryInstants`). All write the earlier partition first, and the later one
 * only if they were first there, so they cannot wait for each other, and the newest row of a key is that of its owner.
 */
export const insertSql = (everyMs: number): string => `
  with instants as materialized (
    select at from ${boundaryInstants({ table: STORED_REQUEST_TABLE.table, everyMs })}
  ), alive as materialized (
    select from stored_request where ${IS_ALIVE} limit 1
  ), earlier as (
    insert into stored_request (project_id, key, request_hash, seed, created_at)
    select $1, $2, $3, $4, at from instants where not exists (select from alive) order by at limit 1
        on conflict do nothing
    returning created_at
  ), later as (
    insert into stored_request (project_id, key, request_hash, seed, created_at)
    select $1, $2, $3, $4, at from earlier join instants on at > created_at
        on conflict do nothing
    returning created_at
  )
  select exists (select from alive) as alive,
         (select max(at) from instants)
           in (select created_at from earlier union all select created_at from later) as inserted`;

const INSERT = insertSql(STORED_REQUEST_TABLE.everyMs);

/**
 * Inserts the key, or replaces one that has expired; false if the key exists. Waits for a transaction that
 * inserted the same key and has not ended.
 */
export async function insertRequest(
  db: Queryable,
  requestKey: RequestKey,
  seed: string | null,
): Promise<boolean> {
  const { projectId, key, requestHash } = requestKey;
  const insert = async () => {
    const { rows } = await db.query<{ alive: boolean; inserted: boolean }>({
      name: "insert_stored_request",
      planning: "indexLookups",
      text: INSERT,
      values: [projectId, key, requestHash, seed],
    });
    return rows[0];
  };
  const first = await insert();
  if (first?.inserted === true) return true;
  // Another transaction inserted it meanwhile, or its row has expired in a partition that remains.
  if (first?.alive === true || !(await deleteExpired(db, requestKey))) return false;
  return (await insert())?.inserted === true;
}

async function deleteExpired(db: Queryable, { projectId, key }: RequestKey): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "delete_stored_request",
    planning: "indexLookups",
    text: `delete from stored_request
            where project_id = $1 and key = $2 and created_at < now() - interval '${KEEP_HOURS} hours'`,
    values: [projectId, key],
  });
  return (rowCount ?? 0) > 0;
}

/** With `lock`, waits for the transaction that holds the key, and holds it until the own one ends. */
export async function findRequest(
  db: Queryable,
  { projectId, key }: RequestKey,
  { lock = false } = {},
): Promise<StoredRequest | undefined> {
  const { rows } = await db.query<Row>({
    name: lock ? "lock_stored_request" : "find_stored_request",
    planning: "indexLookups",
    text: `select request_hash, seed, response, error
             from stored_request
            where ${IS_ALIVE}
            order by created_at desc
            limit 1 ${lock ? "for no key update" : ""}`,
    values: [projectId, key],
  });
  const row = rows[0];
  return row && { requestHash: row.request_hash, seed: row.seed, outcome: outcomeOf(row) };
}

function outcomeOf({ response, error }: Row): Outcome | undefined {
  if (response !== null) return { kind: "response", message: response };
  return error === null ? undefined : { kind: "error", error };
}

/** Stores the outcome unless the key has one; returns whether it was stored. */
export async function storeOutcome(
  db: Queryable,
  { projectId, key }: RequestKey,
  outcome: Outcome,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "store_outcome",
    planning: "indexLookups",
    text: `update stored_request
              set response = $3, error = $4
            where ${IS_ALIVE} and response is null and error is null`,
    values: [
      projectId,
      key,
      outcome.kind === "response" ? outcome.message : null,
      outcome.kind === "error" ? outcome.error : null,
    ],
  });
  // Two rows near the boundary of two partitions.
  return (rowCount ?? 0) > 0;
}
