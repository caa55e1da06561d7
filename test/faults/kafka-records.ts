import { randomUUID } from "node:crypto";

import type { Kafka } from "kafkajs";

/** A record as it is in a topic. */
export type TopicRecord = {
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | string | null;
  readonly value: Buffer | string | null;
};

/** All records of the topics, in the order of each partition. */
export async function readTopics(client: Kafka, name: RegExp): Promise<readonly TopicRecord[]> {
  const admin = client.admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => name.test(topic));
  let expected = 0;
  for (const topic of topics) {
    for (const { high, low } of await admin.fetchTopicOffsets(topic))
      expected += Number(high) - Number(low);
  }
  await admin.disconnect();
  const records: TopicRecord[] = [];
  const consumer = client.consumer({ groupId: `faults-${randomUUID()}`, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topics, fromBeginning: true });
  const complete = Promise.withResolvers<void>();
  if (expected === 0) complete.resolve();
  await consumer.run({
    eachMessage: async ({ topic, partition, message: { key, value } }) => {
      records.push({ topic, partition, key, value });
      if (records.length >= expected) complete.resolve();
    },
  });
  await complete.promise;
  await consumer.disconnect();
  return records;
}

export const partitionRecords = (
  records: readonly TopicRecord[],
): readonly (readonly TopicRecord[])[] => [
  ...Map.groupBy(records, ({ topic, partition }) => `${topic} ${partition}`).values(),
];

/** Each item so many times; no copy is further than `within` from the place of another order. */
export function repeatShuffled<Item>(
  items: readonly Item[],
  options: { readonly times: number; readonly within: number; readonly random: () => number },
): readonly Item[] {
  return items
    .flatMap((item) => Array.from({ length: options.times }, () => item))
    .map((item, index) => ({ item, place: index + options.random() * options.within }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

const SENT_AT_ONCE = 500;

/** Appends records to their partitions, in their order. */
export async function send(client: Kafka, records: readonly TopicRecord[]): Promise<void> {
  const producer = client.producer({
    createPartitioner:
      () =>
      ({ message }) =>
        message.partition ?? 0,
  });
  await producer.connect();
  for (let start = 0; start < records.length; start += SENT_AT_ONCE) {
    const some = records.slice(start, start + SENT_AT_ONCE);
    await producer.sendBatch({
      topicMessages: [...Map.groupBy(some, ({ topic }) => topic)].map(([topic, messages]) => ({
        topic,
        messages: messages.map(({ key, value, partition }) => ({ key, value, partition })),
      })),
    });
  }
  await producer.disconnect();
}
