import type { Queryable } from "@scrip/postgres";

import { CLAIM_END, claimEnded } from "./order-claims.ts";

export type SessionClaimRow = {
  readonly projectId: string;
  readonly sessionKey: string;
  /** Vouchers and an order; stored in the column `voucher_id`. */
  readonly objectIds: readonly string[];
  /** The claimant: the idempotency key, or the request id. */
  readonly by: string;
  /** The process of the claimant (`ProcessLock`). */
  readonly process: number;
};

/** What a claim has of the objects that it asked for. */
type HeldSession = Omit<SessionClaimRow, "process"> & {
  /** When the last of its objects is free, to the microsecond: a later claim of the same claimant ends later. */
  readonly until: string;
};

/**
 * Claims those objects of a session for one redemption that no other has; undefined: none. Rows are inserted in the order of
 * their ids, so that claims cannot deadlock.
 */
export async function claimSession(
  db: Queryable,
  { process, ...claim }: SessionClaimRow,
): Promise<HeldSession | undefined> {
  const { projectId, sessionKey, objectIds, by } = claim;
  const { rows } = await db.query<{ voucher_id: string; until: string }>(
    `with claimed as (
       insert into session_claim as held
              (project_id, session_key, voucher_id, claimed_by, claimed_process, claimed_until)
       select $1, $2, voucher_id, $4, $5, ${CLAIM_END}
         from unnest($3::text[]) as voucher_id
        order by voucher_id
       on conflict (project_id, session_key, voucher_id) do update
          set claimed_by = excluded.claimed_by,
              claimed_process = excluded.claimed_process,
              claimed_until = excluded.claimed_until
        where ${claimEnded("held.claimed_until", "held.claimed_process")}
       returning voucher_id, claimed_until)
     select voucher_id, (max(claimed_until) over ())::text as until from claimed`,
    [projectId, sessionKey, objectIds, by, process],
  );
  const [first] = rows;
  return first && { ...claim, objectIds: rows.map((row) => row.voucher_id), until: first.until };
}

/** The claimant that is redeeming a voucher of the session. */
export async function findSessionClaim(
  db: Queryable,
  { projectId, sessionKey, objectIds }: Omit<SessionClaimRow, "by" | "process">,
): Promise<{ readonly by: string } | undefined> {
  const { rows } = await db.query<{ claimed_by: string }>(
    `select claimed_by
       from session_claim
      where project_id = $1 and session_key = $2 and voucher_id = any($3::text[])
        and not ${claimEnded("claimed_until", "claimed_process")}
      limit 1`,
    [projectId, sessionKey, objectIds],
  );
  return rows[0] && { by: rows[0].claimed_by };
}

/**
 * Ends a claim, and deletes expired claims of the project, so that the table needs no cleanup job. A repetition does not end a
 * later claim of the same claimant.
 */
export async function releaseSession(
  db: Queryable,
  { projectId, sessionKey, objectIds, by, until }: HeldSession,
): Promise<void> {
  await db.query(
    `delete from session_claim
      where project_id = $1
        and ((session_key = $2 and voucher_id = any($3::text[]) and claimed_by = $4
              and claimed_until <= $5::timestamptz)
             or claimed_until < now() - interval '1 minute')`,
    [projectId, sessionKey, objectIds, by, until],
  );
}
