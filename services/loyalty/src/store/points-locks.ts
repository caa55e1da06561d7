import {
  batchOf,
  buildStatement,
  column,
  columnNames,
  type ColumnTable,
  excludedAssignments,
  type Queryable,
} from "@scrip/postgres";

import type { PointsLock } from "../domain/card.ts";

type LockRow = {
  project_id: string;
  card_id: string;
  session_key: string;
  points: bigint;
  locked_at: Date;
  expires_at: Date;
};

const lockColumns: ColumnTable<PointsLock> = {
  points: column.int8(({ points }) => points),
  locked_at: column.timestamp(({ lockedAt }) => lockedAt),
  expires_at: column.timestamp(({ expiresAt }) => expiresAt),
};

const columns: ColumnTable<PointsLock> = {
  project_id: column.text(({ projectId }) => projectId),
  card_id: column.text(({ cardId }) => cardId),
  session_key: column.text(({ sessionKey }) => sessionKey),
  ...lockColumns,
};

const COLUMNS = columnNames(columns);

/** All locks on the cards, expired ones included: the caller compares with the project's clock. */
export async function findLocksOfCards(
  db: Queryable,
  cards: readonly { readonly projectId: string; readonly cardId: string }[],
): Promise<readonly PointsLock[]> {
  if (cards.length === 0) return [];
  const { rows } = await db.query<LockRow>(
    `select ${COLUMNS} from points_lock
      where (project_id, card_id) in (select * from unnest($1::text[], $2::text[]))`,
    [cards.map(({ projectId }) => projectId), cards.map(({ cardId }) => cardId)],
  );
  return rows.map(pointsLockFromRow);
}

export type SessionReference = { readonly projectId: string; readonly sessionKey: string };

export async function findLocksOfSessions(
  db: Queryable,
  sessions: readonly SessionReference[],
): Promise<readonly PointsLock[]> {
  if (sessions.length === 0) return [];
  const { rows } = await db.query<LockRow>(
    `select ${COLUMNS} from points_lock
      where (project_id, session_key) in (select * from unnest($1::text[], $2::text[]))`,
    [sessions.map(({ projectId }) => projectId), sessions.map(({ sessionKey }) => sessionKey)],
  );
  return rows.map(pointsLockFromRow);
}

/** Expired locks are retained for this long, because the clock of a sandbox project can be behind. */
const RETENTION_DAYS = 7;

/** Inserts or replaces the locks of sessions. The row of the card must be locked. */
export async function upsertLocks(tx: Queryable, locks: readonly PointsLock[]): Promise<void> {
  if (locks.length > 0) await tx.query(upsertStatement({ locks }));
}

const upsertStatement = buildStatement({
  parts: { locks: batchOf(columns) },
  text: ({ locks }) => `
    insert into points_lock (${locks.columns}, kept_until)
    select ${locks.columns},
           now() + greatest(expires_at - locked_at, interval '0') + interval '${RETENTION_DAYS} days'
      from ${locks.rows("item")}
        on conflict (project_id, card_id, session_key) do update
       set ${excludedAssignments(lockColumns)}, kept_until = excluded.kept_until`,
});

export async function deleteLocks(
  tx: Queryable,
  locks: readonly Pick<PointsLock, "projectId" | "cardId" | "sessionKey">[],
): Promise<void> {
  if (locks.length === 0) return;
  await tx.query(
    `delete from points_lock
      where (project_id, card_id, session_key) in
            (select * from unnest($1::text[], $2::text[], $3::text[]))`,
    [
      locks.map(({ projectId }) => projectId),
      locks.map(({ cardId }) => cardId),
      locks.map(({ sessionKey }) => sessionKey),
    ],
  );
}

export type PointsRelease = SessionReference & {
  /** Null: all cards. */
  readonly cardId: string | null;
  /** Only locks taken until this time; null: all. */
  readonly until: number | null;
};

export async function releaseLocks(
  tx: Queryable,
  releases: readonly PointsRelease[],
): Promise<void> {
  if (releases.length === 0) return;
  await tx.query(
    `delete from points_lock l
      using unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
              as item (project_id, session_key, card_id, until)
      where l.project_id = item.project_id and l.session_key = item.session_key
        and (item.card_id is null or l.card_id = item.card_id)
        and (item.until is null or l.locked_at <= item.until)`,
    [
      releases.map(({ projectId }) => projectId),
      releases.map(({ sessionKey }) => sessionKey),
      releases.map(({ cardId }) => cardId),
      releases.map(({ until }) => (until === null ? null : new Date(until))),
    ],
  );
}

export async function deleteExpiredLocks(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from points_lock
      where ctid in (select ctid from points_lock where kept_until < now() limit $1)`,
    [limit],
  );
  return rowCount ?? 0;
}

const pointsLockFromRow = (row: LockRow): PointsLock => ({
  projectId: row.project_id,
  cardId: row.card_id,
  sessionKey: row.session_key,
  points: row.points,
  lockedAt: row.locked_at.getTime(),
  expiresAt: row.expires_at.getTime(),
});
