import { Client } from "pg";

import { sqlState } from "./errors.ts";
import { assertIdentifier } from "./identifier.ts";
import { retryLockTimeout, SHORT_LOCK_TIMEOUT_MS } from "./lock-retry.ts";

/**
 * A table that is partitioned by ranges of a `timestamptz` column, with a partition `<table>_default` that has the
 * indexes of all others. Unique indexes belong to the partitions; `boundaryInstants` makes a key unique across two of
 * them (services/decisions/0029-partitions-by-time.md).
 */
export type PartitionedTable = {
  readonly table: string;
  /** The column of the ranges. */
  readonly column: string;
  /** Length of a partition, a divisor of a day or whole days. Partitions begin at multiples of it (UTC). */
  readonly everyMs: number;
  /** A partition is dropped when its last possible row is older than this. */
  readonly keepMs: number;
  /** Rows from this time on are retained, although they may be older. Default: none. */
  readonly neededSince?: (client: PartitionClient, now: Date) => Promise<Date>;
};

export type PartitionClient = Pick<Client, "query">;

export type PartitionOptions = {
  readonly url: string;
  readonly schema: string;
  readonly tables: readonly PartitionedTable[];
};

export type PartitionChanges = {
  readonly created: readonly string[];
  readonly dropped: readonly string[];
  /** Rows that were deleted from default partitions. */
  readonly deleted: number;
};

/** Partitions after the current one: a job that fails for a day is no problem. */
const AHEAD = 2;

/** Rows of a default partition per statement. */
const CHUNK = 5_000;

const CONNECTION_TIMEOUT_MS = 10_000;

/**
 * Creates the partitions of the near future and drops those whose rows have all expired. Call it at the start and
 * every hour. Needs the owner of the tables, so it connects as the user of the URL, as `migrate` does. Idempotent; of
 * several processes one works, and the others return at once.
 *
 * A missing partition never fails a write: the row goes to the default partition, where the rows of expired periods are
 * deleted one by one. A period that has rows there gets no partition of its own.
 */
export async function maintainPartitions(options: PartitionOptions): Promise<PartitionChanges> {
  const { url, schema, tables } = options;
  assertIdentifier(schema);
  const changes = { created: [] as string[], dropped: [] as string[], deleted: 0 };
  const client = new Client({
    connectionString: url,
    application_name: `partitions ${schema}`,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
  });
  // A connection that breaks also fails the running query; without a listener it ends the process.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query(
      `set search_path to ${schema}; set timezone to 'UTC'; set lock_timeout = ${SHORT_LOCK_TIMEOUT_MS}`,
    );
    const { rows } = await client.query<{ mine: boolean; now: Date }>(
      "select pg_try_advisory_lock(hashtextextended($1, 0)) as mine, clock_timestamp() as now",
      [`partitions ${schema}`],
    );
    if (rows[0]?.mine !== true) return changes;
    for (const table of tables) await maintain(client, table, { now: rows[0].now, changes });
    return changes;
  } finally {
    await client.end();
  }
}

type Run = {
  readonly now: Date;
  readonly changes: { readonly created: string[]; readonly dropped: string[]; deleted: number };
};

async function maintain(client: Client, table: PartitionedTable, run: Run): Promise<void> {
  assertIdentifier(table.table);
  assertIdentifier(table.column);
  await dropDetached(client, table.table, run);
  const existing = await listPartitions(client, table.table);
  for (const range of rangesAhead(table, run.now)) {
    if (existing.some(({ from, to }) => from < range.to && range.from < to)) continue;
    if (await createPartition(client, table, range)) run.changes.created.push(nameOf(table, range));
  }
  const neededSince = (await table.neededSince?.(client, run.now)) ?? run.now;
  const before = Math.min(run.now.getTime() - table.keepMs, neededSince.getTime());
  for (const { name, to } of existing) {
    if (to > before) continue;
    await retryLockTimeout(() =>
      client.query(`alter table ${table.table} detach partition ${name}`),
    );
    // Separately: deleting the files of a large table takes longer than a writer should wait.
    await client.query(`drop table ${name}`);
    run.changes.dropped.push(name);
  }
  // As its partition would be: tables of the same periods lose them together.
  const period = Math.floor(before / table.everyMs) * table.everyMs;
  run.changes.deleted += await deleteFromDefault(client, table, new Date(period));
}

/** SQL: the bounds in a partition's `bound`; null for MINVALUE. */
const FROM = String.raw`(regexp_match(bound, 'FROM \(''([^'']+)''\)'))[1]`;
const TO = String.raw`(regexp_match(bound, 'TO \(''([^'']+)''\)'))[1]`;

/**
 * How near to a boundary a key is stored on both sides of it. Far longer than a transaction that stores a key can last
 * after it looked for the key.
 */
const BOUNDARY_MINUTES = 10;

/**
 * SQL rows `instants (at)`: the time of the transaction, and, near the boundary of two partitions, a time on its other
 * side. A key that is inserted at each of them with `on conflict do nothing` is unique across partitions: transactions
 * that run at the same time share a partition, and a later one has seen the committed key. Fewer inserted rows than
 * keys times instants means that another transaction has stored one of the keys. There is one instant where both sides
 * are in one partition: the default one, or that of the time before partitions.
 */
export const boundaryInstants = ({
  table,
  everyMs,
}: Pick<PartitionedTable, "table" | "everyMs">): string =>
  `(select now() + near as at
      from (values (interval '0'), (interval '${BOUNDARY_MINUTES} min'), (interval '-${BOUNDARY_MINUTES} min')) as n (near)
     where near = interval '0'
        or (date_bin('${everyMs} ms', now() + near, 'epoch') <> date_bin('${everyMs} ms', now(), 'epoch')
            and ${partitionOf(table, "now() + near")} is distinct from ${partitionOf(table, "now()")})
   ) as instants`;

/** SQL: the partition of an instant; null for the default partition. */
const partitionOf = (table: string, instant: string): string =>
  `(select inhrelid
      from pg_inherits
      join pg_class as part on part.oid = inhrelid
     cross join lateral pg_get_expr(part.relpartbound, part.oid) as bound
     where inhparent = '${table}'::regclass and bound <> 'DEFAULT'
       and ${instant} >= coalesce((${FROM})::timestamptz, '-infinity')
       and ${instant} < coalesce((${TO})::timestamptz, 'infinity'))`;

export type Range = { readonly from: number; readonly to: number };

/** The current range and those that follow, in epoch milliseconds. */
function rangesAhead({ everyMs }: { readonly everyMs: number }, now: Date): Range[] {
  const current = Math.floor(now.getTime() / everyMs);
  return Array.from({ length: AHEAD + 1 }, (_, index) => ({
    from: (current + index) * everyMs,
    to: (current + index + 1) * everyMs,
  }));
}

/** `<table>_p2026112200`: the hour in which the range begins. */
const nameOf = ({ table }: PartitionedTable, { from }: Range): string =>
  `${table}_p${new Date(from).toISOString().replaceAll(/\D/g, "").slice(0, 10)}`;

type Partition = Range & { readonly name: string };

/** The partitions with bounds, the oldest first. */
async function listPartitions(client: Client, table: string): Promise<readonly Partition[]> {
  const { rows } = await client.query<{ name: string; from: Date | null; to: Date | null }>(
    `select part.relname as name,
            (${FROM})::timestamptz as from,
            (${TO})::timestamptz as to
       from pg_inherits
       join pg_class as part on part.oid = inhrelid
      cross join lateral pg_get_expr(part.relpartbound, part.oid) as bound
      where inhparent = $1::regclass and bound <> 'DEFAULT'
      order by 3, 1`,
    [table],
  );
  // The table of the time before partitions begins at MINVALUE.
  return rows.map(({ name, from, to }) => ({
    name,
    from: from?.getTime() ?? Number.NEGATIVE_INFINITY,
    to: to?.getTime() ?? Number.POSITIVE_INFINITY,
  }));
}

/**
 * Attached instead of created in place, which would lock the whole table. The default partition is locked and read
 * meanwhile; it is empty, or the period has rows there and stays there.
 */
async function createPartition(
  client: Client,
  table: PartitionedTable,
  range: Range,
): Promise<boolean> {
  const name = nameOf(table, range);
  const [from, to] = [range.from, range.to].map((at) => `'${new Date(at).toISOString()}'`);
  const { rows } = await client.query<{ occupied: boolean }>(
    `select exists (select from ${table.table}_default
                     where ${table.column} >= ${from} and ${table.column} < ${to}) as occupied`,
  );
  if (rows[0]?.occupied !== false) return false;
  return retryLockTimeout(async () => {
    try {
      await client.query("begin");
      await client.query(`create table ${name} (like ${table.table}_default including all)`);
      await client.query(
        `alter table ${table.table} attach partition ${name} for values from (${from}) to (${to})`,
      );
      await client.query("commit");
      return true;
    } catch (error) {
      await client.query("rollback");
      // A row of the period has arrived in the default partition.
      if (sqlState(error) === CHECK_VIOLATION) return false;
      throw error;
    }
  });
}

/** Tables that a run detached, and did not drop because it ended. */
async function dropDetached(client: Client, table: string, { changes }: Run): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = current_schema()::regnamespace and relkind = 'r'
        and relname ~ $1 and not relispartition`,
    [`^${table}_p[0-9]{10}$`],
  );
  for (const { name } of rows) {
    await client.query(`drop table ${name}`);
    changes.dropped.push(name);
  }
}

async function deleteFromDefault(
  client: Client,
  { table, column }: PartitionedTable,
  before: Date,
): Promise<number> {
  for (let deleted = 0; ;) {
    const { rowCount } = await client.query(
      `delete from ${table}_default
        where ctid = any (array(select ctid from ${table}_default where ${column} < $1 limit ${CHUNK}))`,
      [before],
    );
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < CHUNK) return deleted;
  }
}

const CHECK_VIOLATION = "23514";

const EVERY_MS = 60 * 60_000;

/**
 * Maintains the partitions now and every hour, until disposed. A failure is reported and prevents nothing: writes go
 * to the default partition.
 */
export async function keepPartitioned(
  options: PartitionOptions & { readonly onError: (error: Error) => void },
): Promise<AsyncDisposable> {
  const work = async (): Promise<void> => {
    try {
      await maintainPartitions(options);
    } catch (error) {
      options.onError(error instanceof Error ? error : new Error(String(error)));
    }
  };
  let running = work();
  await running;
  const timer = setInterval(() => {
    running = running.then(work);
  }, EVERY_MS);
  // The timer must not keep an idle process alive.
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
}
