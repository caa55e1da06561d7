import type { Database, Queryable } from "@scrip/postgres";

import type { PartitionId } from "./log.ts";

export type TrimPolicy = {
  /** Younger entries are retained. */
  readonly keepMs: number;
  /** Unhandled entries are retained for this long: a consumer group may never return. */
  readonly keepUnreadMs: number;
  readonly chunk: number;
};

/**
 * Deletes old entries of the log of earlier releases in short statements, partition by partition;
 * returns their number.
 */
export async function trimRowLog(db: Database, policy: TrimPolicy): Promise<number> {
  const { rows: partitions } = await db.query<PartitionId & { next_offset: bigint }>(
    "select topic, partition from bus_partition where first_offset < next_offset",
  );
  let trimmed = 0;
  for (const partition of partitions) {
    for (;;) {
      const count = await trimChunk(db, partition, policy);
      trimmed += count;
      if (count < policy.chunk) break;
    }
  }
  return trimmed;
}

async function trimChunk(
  db: Queryable,
  { topic, partition }: PartitionId,
  { keepMs, keepUnreadMs, chunk }: TrimPolicy,
): Promise<number> {
  const { rows } = await db.query<{ trimmed: number }>(
    `with oldest as (
       select log_offset, published_at from bus_log
        where topic = $1 and partition = $2
        order by log_offset
        limit $5
     ), gone as (
       delete from bus_log
        where topic = $1 and partition = $2
          and log_offset in (
              select log_offset from oldest
               where published_at < clock_timestamp() - $3 * interval '1 millisecond'
                 and (log_offset < coalesce((select min(o.log_offset) from bus_offset as o
                                              where o.topic = $1 and o.partition = $2), 0)
                      or published_at < clock_timestamp() - $4 * interval '1 millisecond'))
       returning log_offset
     ), moved as (
       update bus_partition
          set first_offset = greatest(first_offset, (select max(log_offset) + 1 from gone))
        where topic = $1 and partition = $2 and exists (select from gone)
     )
     select count(*)::int as trimmed from gone`,
    [topic, partition, keepMs, keepUnreadMs, chunk],
  );
  return rows[0]?.trimmed ?? 0;
}
