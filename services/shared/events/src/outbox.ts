import { batchOf, buildStatement, column, type Database, type Queryable } from "@scrip/postgres";
import { exportedTraceparent } from "@scrip/telemetry";

import type { EventBus, EventEnvelope, ReadableOutbox, Unpublished } from "./bus.ts";
import type { StoredEvent } from "./event-codec.ts";
import { type Origin, storedHeaders } from "./origin.ts";
import {
  advance,
  isFromLaterDatabase,
  loadPosition,
  type OutboxPosition,
  savePosition,
  UNREAD,
} from "./outbox-position.ts";
import { partitionOf } from "./partition.ts";

/** An event as a service writes it; the clock of the database sets its time, and the bus the epoch. */
export type OutboxEvent = Omit<EventEnvelope, "headers" | "occurredAt" | "epoch"> & {
  /** Default: the origin of all events that are written together. */
  readonly origin?: Origin | undefined;
};

/**
 * Inserts events into the service's `outbox`. Call it in the transaction of the change, after that
 * transaction has locked the row of `key`: the lock orders the events of a key (see `publishPending`). `origin` is what
 * caused the events: the call of a handler, the origin of the event of a consumer, or `INTERNAL`. Without events it does
 * nothing.
 */
export async function enqueue(
  tx: Queryable,
  events: readonly OutboxEvent[],
  origin: Origin | undefined,
): Promise<void> {
  if (events.length === 0) return;
  const traceparent = exportedTraceparent();
  const rows = events.map((event) => ({
    event,
    headers: storedHeaders(traceparent, event.origin ?? origin),
  }));
  await tx.query(enqueueStatement({ rows }));
}

type NewRow = { readonly event: OutboxEvent; readonly headers: string | null };

const enqueueStatement = buildStatement({
  name: "outbox_enqueue",
  parts: {
    rows: batchOf<NewRow>({
      project_id: column.text(({ event }) => event.projectId),
      id: column.text(({ event }) => event.id),
      topic: column.text(({ event }) => event.topic),
      key: column.text(({ event }) => event.key),
      type: column.sparseText(({ event }) => event.type ?? null),
      schema_version: column.sparseInt4(({ event }) => event.schemaVersion ?? null),
      entity_version: column.sparseInt8(({ event }) => event.entityVersion ?? null),
      headers: column.json(({ headers }) => headers),
      payload: column.bytea(({ event }) => event.payload),
    }),
  },
  text: ({ rows }) => `
    insert into outbox (${rows.columns})
    select * from ${rows.rows("row")}`,
});

export type Publication = {
  /** The number of published rows. */
  readonly published: number;
  /** Where the next reading continues; undefined when another process has published meanwhile. */
  readonly position: OutboxPosition | undefined;
};

/**
 * Publishes the next rows of the outbox and then stores the position behind them. A crash in between publishes them
 * again, which consumers detect by the id.
 *
 * Why no event is lost, and the order of a key holds:
 * - What is published is a snapshot: all rows of transactions that it sees. The next snapshot adds exactly what has
 *   committed since, in whichever order the transactions began, and waits for none. Numbers (`seq`) or transaction ids
 *   alone would skip the rows of a transaction that commits late.
 * - A writer holds the lock of the key's row when it inserts, and takes its number there. The next writer of the key
 *   inserts after the first has committed. So the rows of a key have numbers in the order of commits, and a snapshot
 *   that sees one row sees all earlier rows of the key. A key without a lock has no order.
 * - What a snapshot adds is published in the order of numbers, in parts of `limit` rows. So whatever was published
 *   contains, for each key, a run from the oldest row on. With several relays at once, events may repeat, but the first
 *   appearance of an event follows the first appearances of all before it. The lease only avoids double work.
 */
export async function publishPending(
  db: Database,
  bus: EventBus,
  limit: number,
  from?: OutboxPosition,
): Promise<Publication> {
  const stored = from ?? (await loadPosition(db));
  const outbox = await bus.openOutbox?.(db);
  const page = await readPage(db, stored, { limit, withPayload: outbox === undefined });
  if (isFromLaterDatabase(stored, page.snapshot)) {
    await adoptRows(db);
    const unread = { ...UNREAD, version: stored.version };
    const position = await savePosition(db, unread, UNREAD.lowSeq);
    return { published: 0, position };
  }
  const next = advance(stored, page);
  // An idle outbox writes nothing, and neither does a part of it that is published already.
  const isEnd = stored.reading !== null && next.reading === null;
  if (page.rows.length === 0 && !isEnd) return { published: 0, position: next };
  if (page.rows.length > 0) await publishRows(bus, outbox, page.rows);
  return { published: page.rows.length, position: await savePosition(db, next, page.lastSeq) };
}

const publishRows = (
  bus: EventBus,
  outbox: ReadableOutbox | undefined,
  rows: readonly OutboxRow[],
): Promise<void> =>
  outbox === undefined
    ? bus.publish(rows.map((row) => ({ ...fromRow(row), topic: row.topic })))
    : outbox.publish(
        rows.map(({ seq, topic, project_id: projectId, key, size, created_at: createdAt }) => ({
          seq,
          topic,
          partition: partitionOf(projectId, key),
          size,
          createdAt,
        })),
      );

type OutboxRow = {
  readonly seq: bigint;
  readonly project_id: string;
  readonly id: string;
  readonly topic: string;
  readonly key: string;
  readonly type: string | null;
  readonly schema_version: number | null;
  readonly entity_version: bigint | null;
  readonly headers: EventEnvelope["headers"] | null;
  readonly payload: Uint8Array;
  readonly size: number;
  readonly created_at: Date;
};

/** What one statement found, and the snapshot that it saw. */
export type OutboxPage = {
  readonly snapshot: string;
  /** The largest number that was taken. */
  readonly lastSeq: bigint;
  readonly rows: readonly OutboxRow[];
  /** The number of the last row that it looked at; null when the snapshot sees no more rows. */
  readonly readTo: bigint | null;
};

/** How much the relay reads into memory at once; a single larger event is still read. */
const MAX_BATCH_BYTES = 4_194_304;

/**
 * How many rows one statement looks at. While a transaction writes for long, all rows since its beginning are looked at
 * in each reading, and there may be millions.
 */
const MAX_SCANNED = 20_000;

type PageRow = OutboxRow & {
  readonly snapshot: string;
  readonly last_seq: bigint;
  /** The last row that may be looked at, when the page has room left and there are more. */
  readonly scanned_to: bigint | null;
  /** Rows of the page before it was cut to a size. Without any, it is null, as all columns of events are. */
  readonly found: number | null;
};

async function readPage(
  db: Queryable,
  { published, reading, readSeq, lowSeq }: OutboxPosition,
  { limit, withPayload }: { readonly limit: number; readonly withPayload: boolean },
): Promise<OutboxPage> {
  const { rows } = await db.query<PageRow>({
    name: withPayload ? "outbox_next" : "outbox_next_headers",
    planning: "indexLookups",
    text: `select pg_current_snapshot()::text as snapshot,
                  coalesce(pg_sequence_last_value('outbox_seq'), 0) as last_seq,
                  case when coalesce(found, 0) < $4
                       then (select seq from outbox where seq > $1 order by seq offset $6 - 1 limit 1)
                  end as scanned_to,
                  page.*
             from (select) as always
             left join lateral (
                  select seq, project_id, id, topic, key, type, size, created_at, found
                         ${withPayload ? ", schema_version, entity_version, headers, payload" : ""}
                    from (select next.*, octet_length(payload) as size,
                                 sum(octet_length(payload)) over (order by seq) as bytes,
                                 count(*) over ()::int as found
                            from (select *
                                    from (select * from outbox where seq > $1 order by seq limit $6) as scanned
                                   where not coalesce(pg_visible_in_snapshot(xid, $2::pg_snapshot), false)
                                     and coalesce(pg_visible_in_snapshot(xid, $3::pg_snapshot), true)
                                   order by seq
                                   limit $4) as next) as sized
                   where bytes - size < $5) as page on true
            order by seq`,
    values: [
      reading === null ? lowSeq : readSeq,
      published,
      reading,
      limit,
      MAX_BATCH_BYTES,
      MAX_SCANNED,
    ],
  });
  const [first] = rows;
  if (first === undefined) throw new Error("the statement returned no row");
  const { snapshot, last_seq: lastSeq, scanned_to: scannedTo, found } = first;
  if (found === null) return { snapshot, lastSeq, rows: [], readTo: scannedTo };
  const isCut = found === limit || rows.length < found;
  return { snapshot, lastSeq, rows, readTo: isCut ? (rows.at(-1)?.seq ?? null) : scannedTo };
}

/**
 * The database was restored into a cluster with smaller transaction ids, to which all rows are in the future: they
 * become rows of now, in their order, and are published again.
 */
async function adoptRows(db: Queryable): Promise<void> {
  for (;;) {
    const { rowCount } = await db.query(
      `update outbox set xid = pg_current_xact_id()
        where seq in (select seq from outbox
                       where xid >= pg_snapshot_xmax(pg_current_snapshot())
                       order by seq
                       limit 5000)`,
    );
    if (rowCount === 0) return;
  }
}

/** The number of waiting events: counts up to `limit` only. */
export async function countPending(db: Queryable, limit = 100_000): Promise<number> {
  const { published, reading, readSeq, lowSeq } = await loadPosition(db);
  const { rows } = await db.query<{ pending: number }>(
    `select count(*)::int as pending
       from (select from outbox
              where seq > $1
                and not coalesce(pg_visible_in_snapshot(xid, $2::pg_snapshot), false)
                and (seq > $3 or not coalesce(pg_visible_in_snapshot(xid, $4::pg_snapshot), false))
              limit $5) as waiting`,
    [lowSeq, published, readSeq, reading, limit],
  );
  return rows[0]?.pending ?? 0;
}

/** Reads at most as many rows of the outbox at once as the relay. */
export async function findUnpublished(db: Queryable): Promise<Unpublished> {
  const { published, lowSeq } = await loadPosition(db);
  for (let after = lowSeq; ;) {
    const { rows } = await db.query<UnpublishedRow>({
      name: "outbox_unpublished",
      planning: "indexLookups",
      text: `select min(created_at) filter (where not published) as since,
                    count(*) filter (where not published)::int as unpublished,
                    count(*)::int as scanned, max(seq) as last
               from (select seq, created_at, coalesce(pg_visible_in_snapshot(xid, $2::pg_snapshot), false) as published
                       from outbox where seq > $1 order by seq limit $3) as scanned`,
      values: [after, published, MAX_SCANNED],
    });
    const { since = null, unpublished = 0, scanned = 0, last = null } = rows[0] ?? {};
    // Later rows are younger: numbers and times are taken together.
    if (since !== null || last === null || scanned < MAX_SCANNED)
      return { since, rows: unpublished };
    after = last;
  }
}

type UnpublishedRow = {
  readonly since: Date | null;
  readonly unpublished: number;
  readonly scanned: number;
  readonly last: bigint | null;
};

const NO_HEADERS: EventEnvelope["headers"] = {};

/** A row of an outbox, as an event without its topic. */
export type StoredRow = Omit<OutboxRow, "seq" | "topic" | "size">;

export const fromRow = (row: StoredRow): StoredEvent => ({
  id: row.id,
  key: row.key,
  projectId: row.project_id,
  ...(row.type !== null && { type: row.type }),
  ...(row.schema_version !== null && { schemaVersion: row.schema_version }),
  ...(row.entity_version !== null && { entityVersion: row.entity_version }),
  payload: row.payload,
  headers: row.headers ?? NO_HEADERS,
  occurredAt: row.created_at,
});
