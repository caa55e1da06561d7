import {
  batchOf,
  buildStatement,
  column,
  type Queryable,
  textArray,
  timestampArray,
} from "@scrip/postgres";

import type { LockedAmounts, SessionLock } from "../domain/session-locks.ts";
import { rowKey } from "../domain/usage.ts";

export type ReservedVoucher = {
  readonly projectId: string;
  readonly voucherId: string;
  /** Locks that expired before this time are ignored. Epoch milliseconds. */
  readonly at: number;
};

/*
 * The lookups are not prepared by name: a plan that was cached while the table was small might keep using the wrong one of
 * the indexes that begin with the project.
 */

/** The total locks of live sessions on each voucher, by `rowKey` of project and voucher. */
export async function findLockedAmounts(
  db: Queryable,
  vouchers: readonly ReservedVoucher[],
): Promise<ReadonlyMap<string, LockedAmounts>> {
  if (vouchers.length === 0) return new Map();
  const { rows } = await db.query<{
    project_id: string;
    voucher_id: string;
    quantity: bigint;
    credits: bigint;
  }>(
    `select name.project_id, name.voucher_id, r.quantity, r.credits
             from unnest($1::text[], $2::text[], $3::timestamptz[])
                    as name (project_id, voucher_id, at)
            cross join lateral (
                    select count(*) as quantity, coalesce(sum(credits), 0)::int8 as credits
                      from reservation
                     where project_id = name.project_id and voucher_id = name.voucher_id
                       and expires_at > name.at
                  ) r`,
    [
      textArray(vouchers.map(({ projectId }) => projectId)),
      textArray(vouchers.map(({ voucherId }) => voucherId)),
      timestampArray(vouchers.map(({ at }) => at)),
    ],
  );
  return new Map(
    rows.map((row) => [
      rowKey(row.project_id, row.voucher_id),
      { quantity: row.quantity, credits: row.credits },
    ]),
  );
}

export type SessionAt = {
  readonly projectId: string;
  readonly sessionKey: string;
  readonly at: number;
};

/** All locks of these sessions. Each session must be passed once. */
export async function findSessionLocks(
  db: Queryable,
  sessions: readonly SessionAt[],
): Promise<readonly SessionLock[]> {
  if (sessions.length === 0) return [];
  const { rows } = await db.query<{
    project_id: string;
    session_key: string;
    voucher_id: string;
    credits: bigint;
  }>(
    `select r.project_id, r.session_key, r.voucher_id, r.credits
             from unnest($1::text[], $2::text[], $3::timestamptz[])
                    as name (project_id, session_key, at)
            cross join lateral (
                    select * from reservation
                     where project_id = name.project_id and session_key = name.session_key
                       and expires_at > name.at
                     offset 0
                  ) r`,
    [
      textArray(sessions.map(({ projectId }) => projectId)),
      textArray(sessions.map(({ sessionKey }) => sessionKey)),
      timestampArray(sessions.map(({ at }) => at)),
    ],
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    sessionKey: row.session_key,
    voucherId: row.voucher_id,
    credits: row.credits,
  }));
}

/**
 * Deletes all locks of these sessions, also expired ones, and returns them. Sorted, so that two batches that delete the
 * same sessions wait for each other in one order. Reservations are never updated, so their ctid is stable.
 */
export async function deleteSessions(
  tx: Queryable,
  sessions: readonly Omit<SessionAt, "at">[],
): Promise<readonly ReleasedVoucher[]> {
  if (sessions.length === 0) return [];
  const sorted = sessions.toSorted((a, b) =>
    rowKey(a.projectId, a.sessionKey) < rowKey(b.projectId, b.sessionKey) ? -1 : 1,
  );
  const { rows } = await tx.query<{
    project_id: string;
    session_key: string;
    voucher_id: string;
  }>(
    `delete from reservation
            where ctid = any (array(
                    select r.place
                      from unnest($1::text[], $2::text[]) as name (project_id, session_key)
                     cross join lateral (
                             select ctid as place from reservation
                              where project_id = name.project_id
                                and session_key = name.session_key
                             offset 0
                           ) r
                  ))
        returning project_id, session_key, voucher_id`,
    [
      textArray(sorted.map(({ projectId }) => projectId)),
      textArray(sorted.map(({ sessionKey }) => sessionKey)),
    ],
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    sessionKey: row.session_key,
    voucherId: row.voucher_id,
  }));
}

/** A voucher that a session had locked. */
export type ReleasedVoucher = Omit<SessionAt, "at"> & { readonly voucherId: string };

export type NewReservation = SessionLock & {
  readonly expiresAt: number;
  /** Retention in real time from now on, in milliseconds. */
  readonly keptMs: number;
};

/** The sessions must have no locks. */
export async function insertReservations(
  tx: Queryable,
  rows: readonly NewReservation[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(insertStatement({ reservations: rows }));
}

const insertStatement = buildStatement({
  name: "insert-reservations",
  parts: {
    reservations: batchOf<NewReservation>({
      project_id: column.text(({ projectId }) => projectId),
      session_key: column.text(({ sessionKey }) => sessionKey),
      voucher_id: column.text(({ voucherId }) => voucherId),
      credits: column.int8(({ credits }) => credits),
      expires_at: column.timestamp(({ expiresAt }) => expiresAt),
      kept_ms: column.int8(({ keptMs }) => BigInt(keptMs)),
    }),
  },
  text: ({ reservations }) => `
    insert into reservation (project_id, session_key, voucher_id, credits, expires_at, kept_until)
    select project_id, session_key, voucher_id, credits, expires_at,
           now() + kept_ms * interval '1 millisecond'
      from ${reservations.rows("one")}`,
});

/**
 * Marks vouchers as reserved, so that redemptions read their session locks. The usages must be locked. Their rows exist,
 * so the insert always meets a conflict and finds its row through the key.
 */
export async function markReserved(
  tx: Queryable,
  vouchers: readonly Omit<ReservedVoucher, "at">[],
): Promise<void> {
  if (vouchers.length === 0) return;
  await tx.query({
    name: "mark-reserved",
    text: `insert into voucher_usage as u (project_id, voucher_id, definition_version)
           select *, 0 from unnest($1::text[], $2::text[])
               on conflict (project_id, voucher_id) do update
              set reserved = true, version = u.version + 1
            where not u.reserved`,
    values: [
      textArray(vouchers.map(({ projectId }) => projectId)),
      textArray(vouchers.map(({ voucherId }) => voucherId)),
    ],
  });
}

/** Returns whether the session had a lock on the voucher that had not expired. */
export async function releaseReservation(
  db: Queryable,
  lock: Omit<SessionLock, "credits">,
  at: number,
): Promise<boolean> {
  const { rows } = await db.query<{ live: boolean }>(
    `delete from reservation
      where project_id = $1 and session_key = $2 and voucher_id = $3
  returning expires_at > $4 as live`,
    [lock.projectId, lock.sessionKey, lock.voucherId, new Date(at)],
  );
  return rows[0]?.live === true;
}

/** Deletes a chunk of locks that expired long ago, and returns their number. */
export async function deleteExpiredReservations(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from reservation
      where (project_id, session_key, voucher_id) in (
              select project_id, session_key, voucher_id from reservation
               where kept_until < now()
               order by kept_until
               limit $1
            )`,
    [limit],
  );
  return rowCount ?? 0;
}
