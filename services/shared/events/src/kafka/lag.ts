import type { Admin, SeekEntry } from "kafkajs";

import type { PartitionLag } from "../bus.ts";
import { retryFor } from "./retry.ts";

/** The coordinator of a group may be changing. */
const RETRY_MS = 5_000;

/** What the group has not committed, in `topics` and in those with an offset of the group. */
export async function measureLag(
  admin: Admin,
  group: string,
  topics: readonly string[],
): Promise<readonly PartitionLag[]> {
  const lags = await measureLags(admin, new Map([[group, topics]]));
  return lags.get(group) ?? [];
}

/** The number of events that each group has not committed. */
export async function measureBacklogs(
  admin: Admin,
  topicsOf: ReadonlyMap<string, readonly string[]>,
): Promise<ReadonlyMap<string, number>> {
  const lags = await measureLags(admin, topicsOf);
  return new Map(
    [...lags].map(([group, partitions]) => [
      group,
      partitions.reduce((sum, { behind }) => sum + Number(behind), 0),
    ]),
  );
}

/** Reads the ends of the topics, each once, after what the groups have committed. */
async function measureLags(
  admin: Admin,
  topicsOf: ReadonlyMap<string, readonly string[]>,
): Promise<ReadonlyMap<string, readonly PartitionLag[]>> {
  const groups = await Promise.all(
    [...topicsOf].map(async ([group, topics]) => {
      const positions = await retryFor(RETRY_MS, () => admin.fetchOffsets({ groupId: group }));
      const committed = new Map(positions.map(({ topic, partitions }) => [topic, partitions]));
      return { group, committed, topics: new Set([...topics, ...committed.keys()]) };
    }),
  );
  const topics = new Set(groups.flatMap((one) => [...one.topics]));
  const ends = new Map(
    await Promise.all(
      [...topics].map(async (topic) => [topic, await admin.fetchTopicOffsets(topic)] as const),
    ),
  );
  return new Map(
    groups.map((one) => [
      one.group,
      [...one.topics]
        .toSorted()
        .flatMap((topic) => lagsIn(topic, ends.get(topic) ?? [], one.committed.get(topic) ?? [])),
    ]),
  );
}

type TopicEnds = Awaited<ReturnType<Admin["fetchTopicOffsets"]>>;

/** The partitions of a topic that a group has not read to their end. */
const lagsIn = (
  topic: string,
  ends: TopicEnds,
  committed: readonly SeekEntry[],
): readonly PartitionLag[] => {
  const offsets = new Map(committed.map(({ partition, offset }) => [partition, BigInt(offset)]));
  return ends
    .map(({ partition, low, high }) => {
      const oldest = BigInt(low);
      const offset = offsets.get(partition) ?? oldest;
      return { topic, partition, behind: BigInt(high) - (offset > oldest ? offset : oldest) };
    })
    .filter(({ behind }) => behind > 0n);
};
