import { createBatcher } from "@scrip/batching";
import { int4Array, type Queryable, textArray } from "@scrip/postgres";

import type { PartitionLag } from "../bus.ts";
import { PARTITIONS } from "../partition.ts";
import { keyOf, type PartitionId, type Position } from "./log.ts";
import { SHARED_STATEMENTS } from "./shared-statements.ts";

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

/**
 * What the members in a process store about their groups. Those of the same iteration of the event loop share a statement: idle members
 * wake at the same times, and busy ones with each publication.
 */
export type GroupStore = {
  /** Records that the member is alive. */
  readonly heartbeat: (heartbeat: Heartbeat) => Promise<HeartbeatResult>;
  /** Renews or takes the leases of partitions without another living owner; returns the owned ones. */
  readonly claim: (request: ClaimRequest) => Promise<readonly Claim[]>;
  /** Stores offsets; returns the partitions that are still owned. */
  readonly commit: (commit: Commit) => Promise<readonly PartitionId[]>;
};

type OfMember = { readonly group: string; readonly member: string };

export type Heartbeat = OfMember & Member & { readonly leaseMs: number };

export type HeartbeatResult = {
  /** The other living members. */
  readonly others: readonly Member[];
  /** Whether the member has lived since its last heartbeat, so that no other one took its partitions. */
  readonly inTime: boolean;
};

export type ClaimRequest = OfMember & {
  readonly requested: readonly PartitionId[];
  readonly leaseMs: number;
};

export type Commit = OfMember & { readonly done: readonly Claim[] };

/** Members without a heartbeat for a minute are looked for as often. */
const GONE_MS = 60_000;

const batcher = <Item, Result>(send: (items: readonly Item[]) => Promise<readonly Result[]>) =>
  createBatcher({ ...SHARED_STATEMENTS, send });

export function createGroupStore(db: Queryable): GroupStore {
  let cleanAt = 0;
  return {
    heartbeat: batcher<Heartbeat, HeartbeatResult>(async (beats) => {
      const recorded = await recordHeartbeats(db, beats);
      if (performance.now() >= cleanAt) {
        cleanAt = performance.now() + GONE_MS;
        await deleteGoneMembers(db);
      }
      return recorded;
    }),
    claim: batcher<ClaimRequest, readonly Claim[]>((requests) => claimPartitions(db, requests)),
    commit: batcher<Commit, readonly PartitionId[]>((commits) => commitOffsets(db, commits)),
  };
}

type BeatRow = OfRow & {
  readonly in_time: boolean;
  /** Null without another member. */
  readonly other: string | null;
  readonly topics: readonly string[];
};

/** A heartbeat is in time with a fifth of its lease left, in which it commits. */
async function recordHeartbeats(
  db: Queryable,
  beats: readonly Heartbeat[],
): Promise<readonly HeartbeatResult[]> {
  const { rows } = await db.query<BeatRow>({
    name: "bus_heartbeat",
    planning: "indexLookups",
    text: `with self as (
             select *
               from json_to_recordset($1) as self
                    (consumer_group text, member text, topics text[], lease_ms integer)
           ), beat as (
             insert into bus_member (consumer_group, member, topics, expires_at)
             select consumer_group, member, topics,
                    clock_timestamp() + lease_ms * interval '1 millisecond'
               from self
              order by consumer_group, member
                 on conflict (consumer_group, member) do update
                set expires_at = excluded.expires_at
           )
           select self.consumer_group, self.member, other.member as other, other.topics,
                  coalesce(known.expires_at > clock_timestamp() + lease_ms / 5 * interval '1 millisecond',
                           false) as in_time
             from self
             left join bus_member as known using (consumer_group, member)
             left join bus_member as other
                    on other.consumer_group = self.consumer_group and other.member <> self.member
                       and other.expires_at > clock_timestamp()`,
    values: [
      JSON.stringify(
        beats.map(({ group, member, topics, leaseMs }) => ({
          consumer_group: group,
          member,
          topics,
          lease_ms: leaseMs,
        })),
      ),
    ],
  });
  const ofMember = byMember(rows);
  return beats.map((beat) => {
    const found = ofMember(beat);
    return {
      inTime: found[0]?.in_time ?? false,
      others: found.flatMap(({ other, topics }) =>
        other === null ? [] : [{ member: other, topics }],
      ),
    };
  });
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

/** Apart from the heartbeats, which wait for the rows of living members and so must not hold those of others. */
async function deleteGoneMembers(db: Queryable): Promise<void> {
  await db.query(
    `delete from bus_member
      where (consumer_group, member) in (
            select consumer_group, member from bus_member
             where expires_at < clock_timestamp() - $1 * interval '1 millisecond'
               for update skip locked)`,
    [GONE_MS],
  );
}

async function claimPartitions(
  db: Queryable,
  requests: readonly ClaimRequest[],
): Promise<readonly (readonly Claim[])[]> {
  const wanted = requests.flatMap(({ requested, ...request }) =>
    requested.map((partition) => ({ ...request, ...partition })),
  );
  const { rows } = await db.query<OfRow & PartitionId & { log_offset: bigint; epoch: bigint }>({
    name: "bus_claim",
    planning: "indexLookups",
    text: `with free as (
             select consumer_group, topic, partition, wanted.member, wanted.lease_ms
               from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[])
                    as wanted (consumer_group, member, topic, partition, lease_ms)
               join bus_offset as o using (consumer_group, topic, partition)
              where owner is null or owner = wanted.member or expires_at <= clock_timestamp()
                 or exists (select from bus_member as gone
                             where gone.consumer_group = o.consumer_group and gone.member = o.owner
                               and gone.expires_at <= clock_timestamp())
              order by consumer_group, topic, partition
                for no key update of o
           )
           update bus_offset as o
              set owner = free.member,
                  epoch = o.epoch + (o.owner is distinct from free.member)::int,
                  expires_at = clock_timestamp() + free.lease_ms * interval '1 millisecond'
             from free
            where o.consumer_group = free.consumer_group
              and o.topic = free.topic and o.partition = free.partition
           returning o.consumer_group, o.owner as member, o.topic, o.partition, o.log_offset, o.epoch`,
    values: [
      textArray(wanted.map(({ group }) => group)),
      textArray(wanted.map(({ member }) => member)),
      textArray(wanted.map(({ topic }) => topic)),
      int4Array(wanted.map(({ partition }) => partition)),
      int4Array(wanted.map(({ leaseMs }) => leaseMs)),
    ],
  });
  const ofMember = byMember(rows);
  return requests.map((request) =>
    ofMember(request).map(({ topic, partition, log_offset: offset, epoch }) => ({
      topic,
      partition,
      offset,
      epoch,
    })),
  );
}

async function commitOffsets(
  db: Queryable,
  commits: readonly Commit[],
): Promise<readonly (readonly PartitionId[])[]> {
  const all = commits.flatMap(({ done, group, member }) =>
    done.map((claim) => ({ ...claim, group, member })),
  );
  const { rows } = await db.query<OfRow & PartitionId>({
    name: "bus_commit",
    planning: "indexLookups",
    text: `with held as (
             select consumer_group, topic, partition, done.log_offset
               from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[], $6::bigint[])
                    as done (consumer_group, member, topic, partition, log_offset, epoch)
               join bus_offset as o using (consumer_group, topic, partition)
              where o.owner = done.member and o.epoch = done.epoch
              -- As claims do, so that neither waits for the other.
              order by consumer_group, topic, partition
                for no key update of o
           )
           update bus_offset as o
              set log_offset = greatest(o.log_offset, held.log_offset)
             from held
            where o.consumer_group = held.consumer_group
              and o.topic = held.topic and o.partition = held.partition
           returning o.consumer_group, o.owner as member, o.topic, o.partition`,
    values: [
      textArray(all.map(({ group }) => group)),
      textArray(all.map(({ member }) => member)),
      textArray(all.map(({ topic }) => topic)),
      int4Array(all.map(({ partition }) => partition)),
      all.map(({ offset }) => offset),
      all.map(({ epoch }) => epoch),
    ],
  });
  const ofMember = byMember(rows);
  return commits.map((commit) =>
    ofMember(commit).map(({ topic, partition }) => ({ topic, partition })),
  );
}

type OfRow = { readonly consumer_group: string; readonly member: string };

/** The rows of each member. */
function byMember<Row extends OfRow>(rows: readonly Row[]): (member: OfMember) => readonly Row[] {
  const grouped = Map.groupBy(rows, (row) => `${row.member}:${row.consumer_group}`);
  return ({ member, group }) => grouped.get(`${member}:${group}`) ?? [];
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

/** Partitions whose events are still being handled stay with the member for `leaseMs`. */
export async function leaveGroup(
  db: Queryable,
  { group, member, leaseMs }: OfMember & { readonly leaseMs: number },
): Promise<void> {
  await db.query(
    `update bus_offset
        set expires_at = clock_timestamp() + $3 * interval '1 millisecond'
      where consumer_group = $1 and owner = $2`,
    [group, member, leaseMs],
  );
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
