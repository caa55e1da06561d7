import type { Queryable } from "@scrip/postgres";

import type { PartitionLag } from "../bus.ts";
import { PARTITIONS } from "../partition.ts";
import { keyOf, type PartitionId, type Position } from "./log.ts";

export type Member = { readonly member: string; readonly topics: readonly string[] };

/** An owned partition, and the offset to read from. */
export type Claim = Position & { readonly epoch: bigint };

/**
 * Creates the offsets of a group that is new to a topic: it starts at the oldest retained entry.
 */
export async function createOffsets(
  db: Queryable,
  group: string,
  topics: readonly string[],
): Promise<void> {
  await db.query(
    `insert into bus_offset (consumer_group, topic, partition)
     select $1, topic, partition
       from unnest($2::text[]) as topic, generate_series(0, $3 - 1) as partition
      order by topic, partition
         on conflict do nothing`,
    [group, topics.toSorted(), PARTITIONS],
  );
}

/** Records that `self` is alive, and returns all live members. */
export async function heartbeat(
  db: Queryable,
  group: string,
  self: Member,
  leaseMs: number,
): Promise<readonly Member[]> {
  const { rows } = await db.query<Member>({
    name: "bus_heartbeat",
    text: `with beat as (
             insert into bus_member (consumer_group, member, topics, expires_at)
             values ($1, $2, $3, clock_timestamp() + $4 * interval '1 millisecond')
                 on conflict (consumer_group, member) do update
                set expires_at = excluded.expires_at
           ), gone as (
             delete from bus_member
              where consumer_group = $1 and member <> $2
                and expires_at < clock_timestamp() - interval '1 minute'
           )
           select member, topics from bus_member
            where consumer_group = $1 and member <> $2 and expires_at > clock_timestamp()`,
    values: [group, self.member, self.topics, leaseMs],
  });
  return [...rows, self];
}

/**
 * The partitions assigned to `self`. All members compute the same assignment from the same list, so
 * they need no leader; while their lists differ, the leases leave a partition with one of them.
 */
export function assignPartitions(members: readonly Member[], self: Member): PartitionId[] {
  return self.topics.flatMap((topic) => {
    const subscribers = members
      .filter((other) => other.topics.includes(topic))
      .map((other) => other.member)
      .toSorted();
    const place = subscribers.indexOf(self.member);
    return Array.from({ length: PARTITIONS }, (_, partition) => ({ topic, partition })).filter(
      ({ partition }) => partition % subscribers.length === place,
    );
  });
}

/** Renews or takes the leases of partitions without another owner; returns the owned ones. */
export async function claimPartitions(
  db: Queryable,
  group: string,
  claim: {
    readonly member: string;
    readonly requested: readonly PartitionId[];
    readonly leaseMs: number;
  },
): Promise<readonly Claim[]> {
  const { rows } = await db.query<PartitionId & { log_offset: bigint; epoch: bigint }>({
    name: "bus_claim",
    text: `with free as (
             select topic, partition
               from bus_offset
              where consumer_group = $1
                and (topic, partition) in (select * from unnest($3::text[], $4::int[]))
                and (owner is null or owner = $2 or expires_at <= clock_timestamp())
              order by topic, partition
                for no key update
           )
           update bus_offset as o
              set owner = $2,
                  epoch = o.epoch + (o.owner is distinct from $2)::int,
                  expires_at = clock_timestamp() + $5 * interval '1 millisecond'
             from free
            where o.consumer_group = $1 and o.topic = free.topic and o.partition = free.partition
           returning o.topic, o.partition, o.log_offset, o.epoch`,
    values: [
      group,
      claim.member,
      claim.requested.map((requested) => requested.topic),
      claim.requested.map((requested) => requested.partition),
      claim.leaseMs,
    ],
  });
  return rows.map(({ topic, partition, log_offset: offset, epoch }) => ({
    topic,
    partition,
    offset,
    epoch,
  }));
}

/** Stores the offsets of the group; returns the partitions that are still owned. */
export async function commitOffsets(
  db: Queryable,
  group: string,
  member: string,
  done: readonly Claim[],
): Promise<readonly PartitionId[]> {
  const { rows } = await db.query<PartitionId>({
    name: "bus_commit",
    text: `update bus_offset as o
              set log_offset = greatest(o.log_offset, done.log_offset)
             from unnest($3::text[], $4::int[], $5::bigint[], $6::bigint[])
                  as done (topic, partition, log_offset, epoch)
            where o.consumer_group = $1 and o.owner = $2
              and o.topic = done.topic and o.partition = done.partition and o.epoch = done.epoch
           returning o.topic, o.partition`,
    values: [
      group,
      member,
      done.map((claim) => claim.topic),
      done.map((claim) => claim.partition),
      done.map((claim) => claim.offset),
      done.map((claim) => claim.epoch),
    ],
  });
  return rows;
}

export async function releasePartitions(
  db: Queryable,
  group: string,
  member: string,
  partitions: readonly PartitionId[],
): Promise<void> {
  await db.query(
    `update bus_offset
        set owner = null, expires_at = null
      where consumer_group = $1 and owner = $2
        and (topic, partition) in (select * from unnest($3::text[], $4::int[]))`,
    [
      group,
      member,
      partitions.map((partition) => partition.topic),
      partitions.map((partition) => partition.partition),
    ],
  );
}

export async function leaveGroup(db: Queryable, group: string, member: string): Promise<void> {
  await db.query("delete from bus_member where consumer_group = $1 and member = $2", [
    group,
    member,
  ]);
}

/**
 * For how many seconds the oldest unhandled event of each group has been published. Offsets of partitions without events
 * follow with a heartbeat, so it may show a few seconds without any.
 */
export async function measureDelays(db: Queryable): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ consumer_group: string; seconds: number }>({
    name: "bus_delays",
    planning: "indexLookups",
    text: `select consumer_group,
                  coalesce(extract(epoch from clock_timestamp() - min(published_at)), 0)::int as seconds
             from (select consumer_group, topic, min(log_offset) as log_offset
                     from bus_offset
                    group by consumer_group, topic) as o
             left join lateral (
                  select published_at from bus_batch
                   where topic = o.topic and last_offset >= o.log_offset
                   order by last_offset
                   limit 1) as batch on true
            group by consumer_group`,
    values: [],
  });
  return new Map(rows.map((row) => [row.consumer_group, row.seconds]));
}

/** Rows of the log that one statement counts. */
const LAG_CHUNK = 5_000;

/** The unhandled events of each partition; reads only their partitions, and decodes nothing. */
export async function measureLag(db: Queryable, group: string): Promise<readonly PartitionLag[]> {
  const { rows: positions } = await db.query<PartitionId & { log_offset: bigint; rows: bigint }>(
    `select topic, partition, log_offset,
            -- Those in the log of rows.
            greatest(coalesce(next_offset - greatest(log_offset, first_offset), 0), 0) as rows
       from bus_offset left join bus_partition using (topic, partition)
      where consumer_group = $1
      order by topic, partition`,
    [group],
  );
  const behind = new Map(positions.map((position) => [keyOf(position), position.rows]));
  for (const [topic, some] of Map.groupBy(positions, (position) => position.topic)) {
    const offsets = new Map(some.map(({ partition, log_offset: offset }) => [partition, offset]));
    for await (const { partition, offset } of readPartitions(db, topic, [...offsets.values()])) {
      const key = keyOf({ topic, partition });
      if (offset >= (offsets.get(partition) ?? 0n)) behind.set(key, (behind.get(key) ?? 0n) + 1n);
    }
  }
  return positions.flatMap(({ topic, partition }) => {
    const count = behind.get(keyOf({ topic, partition })) ?? 0n;
    return count > 0n ? [{ topic, partition, behind: count }] : [];
  });
}

/** The partition of each event from the lowest of the offsets on. */
async function* readPartitions(
  db: Queryable,
  topic: string,
  offsets: readonly bigint[],
): AsyncGenerator<{ readonly partition: number; readonly offset: bigint }> {
  let from = offsets.reduce((lowest, offset) => (offset < lowest ? offset : lowest));
  for (;;) {
    const { rows } = await db.query<{ first_offset: bigint; partitions: Uint8Array }>(
      `select first_offset, partitions from bus_batch
        where topic = $1 and last_offset >= $2
        order by last_offset
        limit ${LAG_CHUNK}`,
      [topic, from],
    );
    for (const { first_offset: first, partitions } of rows) {
      for (const [index, partition] of partitions.entries()) {
        from = first + BigInt(index) + 1n;
        yield { partition, offset: first + BigInt(index) };
      }
    }
    if (rows.length < LAG_CHUNK) return;
  }
}
