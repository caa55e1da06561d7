import type { Admin } from "kafkajs";

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
  const committed = new Map<string, bigint>();
  const positions = await retryFor(RETRY_MS, () => admin.fetchOffsets({ groupId: group }));
  for (const { topic, partitions } of positions) {
    for (const { partition, offset } of partitions)
      committed.set(`${partition}:${topic}`, BigInt(offset));
  }
  const all = new Set([...topics, ...positions.map(({ topic }) => topic)]);
  const lags = await Promise.all(
    [...all].toSorted().map(async (topic) =>
      (await admin.fetchTopicOffsets(topic)).map(({ partition, low, high }): PartitionLag => {
        const oldest = BigInt(low);
        const offset = committed.get(`${partition}:${topic}`) ?? oldest;
        return { topic, partition, behind: BigInt(high) - (offset > oldest ? offset : oldest) };
      }),
    ),
  );
  return lags.flat().filter(({ behind }) => behind > 0n);
}

/** The number of events that each group has not committed. */
export async function measureBacklogs(
  admin: Admin,
  topicsOf: ReadonlyMap<string, readonly string[]>,
): Promise<ReadonlyMap<string, number>> {
  const backlogs = [...topicsOf].map(async ([group, topics]): Promise<[string, number]> => {
    const partitions = await measureLag(admin, group, topics);
    return [group, partitions.reduce((sum, { behind }) => sum + Number(behind), 0)];
  });
  return new Map(await Promise.all(backlogs));
}
