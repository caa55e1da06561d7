import type { ReadPartition } from "../handler-runner.ts";
import type { Claim } from "./group.ts";
import { keyOf } from "./log.ts";

/** The state of a partition that a member reads. */
export type OwnedPartition = ReadPartition & {
  readonly epoch: bigint;
  /** The next entry to read. */
  offset: bigint;
  /** The offset after the last handled event; up to `offset` are events of other partitions only. */
  handled: bigint;
  /** The stored offset. */
  committed: bigint;
  /** The delivery in progress. */
  delivery: Promise<void> | undefined;
};

/** The partitions of a member, by topic and number. */
export type OwnedPartitions = Map<string, OwnedPartition>;

/**
 * Applies the assignment from the database: starts new partitions, and drops those that are lost or
 * had another owner in between.
 */
export function followClaims(owned: OwnedPartitions, claims: readonly Claim[]): void {
  const current = new Map(claims.map((claim) => [keyOf(claim), claim]));
  for (const [key, partition] of owned) {
    if (current.get(key)?.epoch !== partition.epoch) dropPartition(owned, key);
  }
  for (const [key, { topic, partition, epoch, offset }] of current) {
    if (owned.has(key)) continue;
    owned.set(key, {
      topic,
      partition,
      epoch,
      offset,
      handled: offset,
      committed: offset,
      lost: new AbortController(),
      delivery: undefined,
    });
  }
}

export function dropPartition(owned: OwnedPartitions, key: string): void {
  owned.get(key)?.lost.abort(new Error("the partition was assigned to another member"));
  owned.delete(key);
}
