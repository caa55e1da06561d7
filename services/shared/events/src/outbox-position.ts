import type { Queryable } from "@scrip/postgres";

/**
 * Which rows of an outbox are published: those of transactions that are visible in the snapshot `published`. While
 * what `reading` adds is published in parts, also those of it up to `readSeq`.
 */
export type OutboxPosition = {
  /** Counts the changes: of two that were made of the same one, one is stored. */
  readonly version: bigint;
  /** As PostgreSQL writes it: `xmin:xmax:running`. Null before the first reading. */
  readonly published: string | null;
  readonly reading: string | null;
  readonly readSeq: bigint;
  /** All rows that are not published have larger numbers. It only saves reading. */
  readonly lowSeq: bigint;
  /** The next `lowSeq`, as soon as no transaction before `xid` runs any more. */
  readonly mark: { readonly xid: bigint; readonly seq: bigint } | null;
  /** The largest number that was taken before the last reading. */
  readonly lastSeq: bigint;
};

/** Nothing is published. */
export const UNREAD: OutboxPosition = {
  version: 0n,
  published: null,
  reading: null,
  readSeq: 0n,
  lowSeq: 0n,
  mark: null,
  lastSeq: 0n,
};

type Page = {
  readonly snapshot: string;
  readonly lastSeq: bigint;
  readonly readTo: bigint | null;
};

/** The position after the rows of `page`. */
export function advance(position: OutboxPosition, page: Page): OutboxPosition {
  const reading = position.reading ?? page.snapshot;
  // A transaction that begins after a snapshot takes its number after what was the last one before it.
  const mark = position.mark ?? { xid: xmaxOf(page.snapshot), seq: position.lastSeq };
  const next = { ...position, mark, lastSeq: page.lastSeq };
  if (page.readTo !== null) return { ...next, reading, readSeq: page.readTo };
  const isPassed = xminOf(reading) >= mark.xid;
  return {
    ...next,
    published: reading,
    reading: null,
    readSeq: 0n,
    lowSeq: isPassed ? mark.seq : position.lowSeq,
    mark: isPassed ? null : mark,
  };
}

/** Whether the snapshot is older than the position: the database came from another cluster. */
export const isFromLaterDatabase = ({ published }: OutboxPosition, snapshot: string): boolean =>
  published !== null && xmaxOf(snapshot) < xmaxOf(published);

const xminOf = (snapshot: string): bigint => BigInt(snapshot.split(":")[0] ?? "");
const xmaxOf = (snapshot: string): bigint => BigInt(snapshot.split(":")[1] ?? "");

type PositionRow = {
  readonly version: bigint;
  readonly published: string | null;
  readonly reading: string | null;
  readonly read_seq: bigint;
  readonly low_seq: bigint;
  readonly mark_xid: string | null;
  readonly mark_seq: bigint;
  readonly last_seq: bigint;
};

export async function loadPosition(db: Queryable): Promise<OutboxPosition> {
  const { rows } = await db.query<PositionRow>(
    `select version, published::text, reading::text, read_seq, low_seq, mark_xid::text, mark_seq, last_seq
       from outbox_position
      where name = 'relay'`,
  );
  const [row] = rows;
  if (row === undefined) return UNREAD;
  return {
    version: row.version,
    published: row.published,
    reading: row.reading,
    readSeq: row.read_seq,
    lowSeq: row.low_seq,
    mark: row.mark_xid === null ? null : { xid: BigInt(row.mark_xid), seq: row.mark_seq },
    lastSeq: row.last_seq,
  };
}

/** Stores a position that was made of the stored one; undefined when another process has stored one meanwhile. */
export async function savePosition(
  db: Queryable,
  position: OutboxPosition,
): Promise<OutboxPosition | undefined> {
  const { rowCount } = await db.query({
    name: "outbox_save_position",
    text: `insert into outbox_position as stored
                  (name, version, published, reading, read_seq, low_seq, mark_xid, mark_seq, last_seq)
           values ('relay', $1::bigint + 1, $2::text::pg_snapshot, $3::text::pg_snapshot, $4, $5,
                   $6::text::xid8, $7, $8)
               on conflict (name) do update
              set version = excluded.version, published = excluded.published,
                  reading = excluded.reading, read_seq = excluded.read_seq,
                  low_seq = excluded.low_seq, mark_xid = excluded.mark_xid,
                  mark_seq = excluded.mark_seq, last_seq = excluded.last_seq
            where stored.version = $1`,
    values: [
      position.version,
      position.published,
      position.reading,
      position.readSeq,
      position.lowSeq,
      position.mark?.xid.toString() ?? null,
      position.mark?.seq ?? 0n,
      position.lastSeq,
    ],
  });
  return rowCount === 1 ? { ...position, version: position.version + 1n } : undefined;
}
