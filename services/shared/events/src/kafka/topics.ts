import type { Admin } from "kafkajs";

import { createLimiter } from "../limiter.ts";
import { PARTITIONS } from "../partition.ts";
import type { LogRetention } from "../pg/log-retention.ts";
import type { ReplacedClient } from "./client.ts";
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
  admin: ReplacedClient<Admin>,
  retention: Pick<LogRetention, "keepUnhandledMs">,
): Topics {
  const known = new Set<string>();
  // Concurrent calls would create topics twice, and read topics of other calls before the brokers know them.
  const oneAtATime = createLimiter(1);
  const unknownOf = (topics: readonly string[]): string[] =>
    [...new Set(topics)].filter((topic) => !known.has(topic));
  return {
    async ensure(topics) {
      if (unknownOf(topics).length === 0) return;
      await oneAtATime(async () => {
        const unknown = unknownOf(topics);
        if (unknown.length === 0) return;
        const found = await admin.use(async (connected) => {
          const existing = new Set(await connected.listTopics());
          const missing = unknown.filter((topic) => !existing.has(topic));
          if (missing.length > 0) await create(connected, missing, retention.keepUnhandledMs);
          const metadata = await retryFor(PROPAGATION_MS, () =>
            connected.fetchTopicMetadata({ topics: unknown }),
          );
          return metadata.topics;
        });
        for (const { name, partitions } of found) {
          checkPartitions(name, partitions.length);
          known.add(name);
        }
      });
    },
    recheck: () => known.clear(),
  };
}

/** With another number, keys would be in other partitions than those of the Postgres adapter and of older events. */
function checkPartitions(topic: string, partitions: number): void {
  if (partitions !== PARTITIONS)
    throw new Error(`the topic ${topic} has ${partitions} partitions instead of ${PARTITIONS}`);
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
