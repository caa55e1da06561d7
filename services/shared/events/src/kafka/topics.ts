import type { Admin } from "kafkajs";

import { PARTITIONS } from "../partition.ts";
import type { LogRetention } from "../pg/log-retention.ts";
import { retryFor } from "./retry.ts";

/** The number of replicas is the default of the brokers. */
const BROKER_DEFAULT = -1;

const PROPAGATION_MS = 10_000;

export type Topics = {
  /** Creates the topics that do not exist, and checks the others, each once. */
  readonly ensure: (topics: readonly string[]) => Promise<void>;
  /** Checks all topics again: a failure may mean that one was deleted. */
  readonly recheck: () => void;
};

export function createTopics(
  connect: () => Promise<Admin>,
  retention: Pick<LogRetention, "keepUnhandledMs">,
): Topics {
  const known = new Set<string>();
  return {
    async ensure(topics) {
      const unknown = [...new Set(topics)].filter((topic) => !known.has(topic));
      if (unknown.length === 0) return;
      const admin = await connect();
      const existing = new Set(await admin.listTopics());
      const missing = unknown.filter((topic) => !existing.has(topic));
      if (missing.length > 0) await create(admin, missing, retention.keepUnhandledMs);
      const { topics: found } = await retryFor(PROPAGATION_MS, () =>
        admin.fetchTopicMetadata({ topics: unknown }),
      );
      for (const { name, partitions } of found) {
        // With another number, keys would be in other partitions than those of the other adapter and of older events.
        if (partitions.length !== PARTITIONS) {
          throw new Error(
            `the topic ${name} has ${partitions.length} partitions instead of ${PARTITIONS}`,
          );
        }
        known.add(name);
      }
    },
    recheck: () => known.clear(),
  };
}

async function create(admin: Admin, topics: readonly string[], retentionMs: number): Promise<void> {
  await admin.createTopics({
    topics: topics.map((topic) => ({
      topic,
      numPartitions: PARTITIONS,
      replicationFactor: BROKER_DEFAULT,
      configEntries: [{ name: "retention.ms", value: String(retentionMs) }],
    })),
    waitForLeaders: false,
  });
  // Brokers learn of a topic a little after its creation. Publishing earlier would succeed for some partitions only,
  // and repeat their events.
  for (const topic of topics) await retryFor(PROPAGATION_MS, () => admin.fetchTopicOffsets(topic));
}
