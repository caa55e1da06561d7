import type { Kafka, Message } from "kafkajs";

import { checkPublishable, type EventEnvelope } from "../bus.ts";
import { createReplacedClient } from "./client.ts";
import { messageOf } from "./message.ts";
import type { Topics } from "./topics.ts";

export type Publisher = {
  readonly publish: (batch: readonly EventEnvelope[]) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Brokers accept at most 1 MiB per partition in one request; a single larger event is checked before. */
const MAX_REQUEST_BYTES = 900_000;

const ALL_REPLICAS = -1;

/**
 * Sends one batch after the other. Not as Kafka's idempotent producer: a relay that crashes sends again anyway, and
 * kafkajs may lose the sequence of its messages after a failure.
 */
export function createPublisher(
  kafka: Kafka,
  topics: Topics,
  epoch: number | undefined,
): Publisher {
  const producer = createReplacedClient(() =>
    kafka.producer({
      allowAutoTopicCreation: false,
      maxInFlightRequests: 1,
      createPartitioner:
        () =>
        ({ message }) =>
          message.partition ?? 0,
    }),
  );
  // A dead letter that is published again keeps its epoch.
  const inEpoch = (event: EventEnvelope): EventEnvelope =>
    epoch === undefined ? event : { epoch, ...event };
  return {
    async publish(batch) {
      if (batch.length === 0) return;
      checkPublishable(batch);
      await topics.ensure(batch.map(({ topic }) => topic));
      const requests = splitBySize(batch.map(inEpoch));
      try {
        await producer.use(async (connected) => {
          for (const request of requests) {
            await connected.sendBatch({
              acks: ALL_REPLICAS,
              topicMessages: [...request].map(([topic, messages]) => ({ topic, messages })),
            });
          }
        });
      } catch (error) {
        topics.recheck();
        throw error;
      }
    },
    close: producer.close,
  };
}

/** The messages of each request by topic, in their order. */
function splitBySize(batch: readonly EventEnvelope[]): readonly Map<string, Message[]>[] {
  const requests: Map<string, Message[]>[] = [];
  let bytes = 0;
  for (const event of batch) {
    const message = messageOf(event);
    bytes += message.value.byteLength;
    if (requests.length === 0 || bytes > MAX_REQUEST_BYTES) {
      requests.push(new Map());
      bytes = message.value.byteLength;
    }
    const request = requests.at(-1);
    const messages = request?.get(event.topic);
    if (messages === undefined) request?.set(event.topic, [message]);
    else messages.push(message);
  }
  return requests;
}
