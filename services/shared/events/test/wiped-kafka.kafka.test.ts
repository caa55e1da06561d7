import { createKafkaEventBus } from "@scrip/events";
import { emptyDatabase, testKafka } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import {
  buildEvent,
  CLOSE_MS,
  idsOf,
  newGroup,
  newTopic,
  recorder,
  soon,
} from "./conformance/broker.ts";

const kafka = await testKafka();
const database = await emptyDatabase();
afterAll(async () => {
  await kafka[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

// A broker that other programs run must not lose its data.
test.skipIf(kafka.program === undefined)(
  "a broker that has lost all its data receives and delivers events again, in processes that continue to run",
  async () => {
    const open = () =>
      createKafkaEventBus({
        kafka: { brokers: kafka.brokers.split(",") },
        url: database.url,
        onError: () => {},
        requestTimeoutMs: 2_000,
        timings: { maxBackOffMs: 200 },
      });
    const [publisher, consumer] = await Promise.all([open(), open()]);
    const topics = [newTopic(), newTopic(), newTopic()] as const;
    const { seen, handler } = recorder();
    const publishEach = async (nth: number): Promise<void> => {
      // One topic per publication: a client asks for the others, too.
      for (const topic of topics)
        await soon(() => publisher.publish([buildEvent(topic, topic, nth)]));
    };
    const idsOfEach = (nth: number): string[] => topics.map((topic) => `${topic}-${nth}`);
    await consumer.subscribe({ group: newGroup(), topics, handler });
    await publishEach(1);
    await soon(() => expect(idsOf(seen)).toEqual(expect.arrayContaining(idsOfEach(1))));

    await kafka.program!.wipe();
    await kafka.program!.restart();

    await publishEach(2);
    await soon(() => expect(idsOf(seen)).toEqual(expect.arrayContaining(idsOfEach(2))));
    await Promise.all([publisher.close(CLOSE_MS), consumer.close(CLOSE_MS)]);
  },
);
