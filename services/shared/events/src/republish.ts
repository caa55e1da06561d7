import type { Database } from "@scrip/postgres";

/**
 * Sets the position of the relay back, so that it publishes all rows again that were written at `since` or later and are
 * still in the outbox. Consumers detect those that they have handled by their ids. A relay that runs meanwhile notices
 * the change, because the version of the position has changed. Returns when the oldest of the rows was written; null
 * without any.
 */
export async function republishSince(db: Database, since: Date): Promise<Date | null> {
  const { rows } = await db.query<{ first: Date }>(
    `with oldest as (select seq, created_at from outbox where created_at >= $1 order by seq limit 1)
     insert into outbox_position as stored (name, version, low_seq)
     select 'relay', 1, seq - 1 from oldest
         on conflict (name) do update
        set version = stored.version + 1, published = null, reading = null, read_seq = 0,
            low_seq = excluded.low_seq, mark_xid = null, mark_seq = 0
     returning (select created_at from oldest) as first`,
    [since],
  );
  return rows[0]?.first ?? null;
}
