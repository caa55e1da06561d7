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
  /** The next `lowSeq`, as soon as `xid` and all transactions before it have ended. */
  readonly mark: { readonly xid: bigint; readonly seq: bigint } | null;
};

/** Nothing is published. */
export const UNREAD: OutboxPosition = {
  version: 0n,
  published: null,
  reading: null,
  readSeq: 0n,
  lowSeq: 0n,
  mark: null,
};

type Page = {
  readonly snapshot: string;
  readonly readTo: bigint | null;
};

/** The position after the rows of `page`. */
export function advance(position: OutboxPosition, page: Page): OutboxPosition {
  const { mark, lowSeq } = position;
  const reading = position.reading ?? page.snapshot;
  if (page.readTo !== null) return { ...position, reading, readSeq: page.readTo };
  const isPassed = mark !== null && xminOf(reading) > mark.xid;
  return {
    ...position,
    published: reading,
    reading: null,
    readSeq: 0n,
    lowSeq: isPassed ? mark.seq : lowSeq,
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
};

export async function loadPosition(db: Queryable): Promise<OutboxPosition> {
  const { rows } = await db.query<PositionRow>(
    `select version, published::text, reading::text, read_seq, low_seq, mark_xid::text, mark_seq
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
    mark: markOf(row),
  };
}

const markOf = ({
  mark_xid: xid,
  mark_seq: seq,
}: Pick<PositionRow, "mark_xid" | "mark_seq">): OutboxPosition["mark"] =>
  xid === null ? null : { xid: BigInt(xid), seq };

/**
 * Stores a position that was made of the stored one; undefined when another process has stored one since.
 *
 * A position without a mark gets one: the transaction that stores it, and `lastSeq`, the largest number that was taken
 * before it began. Later transactions take larger numbers, because a row takes its number after the id of its
 * transaction. The id has to be one that was assigned: the upper bound of a snapshot (`xmax`) follows the last
 * transaction that has ended, so transactions with that id and larger ones may already run, with numbers of their own.
 */
export async function savePosition(
  db: Queryable,
  position: OutboxPosition,
  lastSeq: bigint,
): Promise<OutboxPosition | undefined> {
  const { rows } = await db.query<Pick<PositionRow, "mark_xid" | "mark_seq">>({
    name: "outbox_save_position",
    text: `insert into outbox_position as stored
                  (name, version, published, reading, read_seq, low_seq, mark_xid, mark_seq)
           values ('relay', $1::bigint + 1, $2::text::pg_snapshot, $3::text::pg_snapshot, $4, $5,
                   coalesce($6::text::xid8, pg_current_xact_id()), $7)
               on conflict (name) do update
              set version = excluded.version, published = excluded.published,
                  reading = excluded.reading, read_seq = excluded.read_seq,
                  low_seq = excluded.low_seq, mark_xid = excluded.mark_xid,
                  mark_seq = excluded.mark_seq
            where stored.version = $1
           returning mark_xid::text, mark_seq`,
    values: [
      position.version,
      position.published,
      position.reading,
      position.readSeq,
      position.lowSeq,
      position.mark?.xid.toString() ?? null,
      position.mark?.seq ?? lastSeq,
    ],
  });
  const [row] = rows;
  return row && { ...position, version: position.version + 1n, mark: markOf(row) };
}
