import { create, toBinary } from "@bufbuild/protobuf";
import { type Duration, DurationSchema } from "@bufbuild/protobuf/wkt";
import { type EventEnvelope, eventMessage } from "@scrip/events";
import { describe, expect, test } from "vitest";

import {
  type Broker,
  CLOSE_MS,
  buildEvent,
  buildEvents,
  newGroup,
  newTopic,
  idsOf,
  passingTrouble,
  recorder,
  soon,
} from "./broker.ts";

export function deliveryConformance(broker: () => Broker): void {
  describe.concurrent("publishing", () => {
    test("delivers an event with all its fields", async () => {
      const bus = await broker().connect();
      const event: EventEnvelope = {
        ...buildEvent(newTopic(), "v_1", 1),
        schemaVersion: 3,
        entityVersion: 9_007_199_254_740_993n,
        epoch: 2,
        payload: Uint8Array.from([0, 255, 128, 10]),
        headers: { traceparent: "00-ab-cd-01", 'naïve "quote"': "ünïcode, {braces}, \\ and NULL" },
      };
      const untyped = { ...buildEvent(event.topic, "v_1", 2), payload: new Uint8Array() };
      const { type: _type, ...withoutType } = untyped;
      await bus.publish([event, withoutType]);

      const { seen, handler } = recorder();
      await bus.subscribe({ group: newGroup(), topics: [event.topic], handler });
      await soon(() => expect(seen).toHaveLength(2));

      const { partition, offset } = seen[0]!;
      expect(seen.map(({ payload, ...rest }) => ({ ...rest, payload: [...payload] }))).toEqual([
        { ...event, payload: [0, 255, 128, 10], partition, offset },
        { ...withoutType, payload: [], partition, offset: offset + 1n },
      ]);
      await bus.close(CLOSE_MS);
    });

    test("rejects a batch with an event of 1 MiB, and accepts the next one", async () => {
      const bus = await broker().connect();
      const topic = newTopic();
      const { seen, handler } = recorder();
      await bus.subscribe({ group: newGroup(), topics: [topic], handler });

      const large = { ...buildEvent(topic, "large", 1), payload: new Uint8Array(1_048_576) };
      await expect(bus.publish([buildEvent(topic, "before", 1), large])).rejects.toThrow(
        "event large-1 cannot be published",
      );
      await bus.publish([{ ...large, payload: new Uint8Array(990_000) }]);

      await soon(() => expect(idsOf(seen)).toEqual(["large-1"]));
      expect(seen[0]?.payload.byteLength).toBe(990_000);
      await bus.close(CLOSE_MS);
    });

    test("accepts an empty batch and a large one", async () => {
      const bus = await broker().connect();
      const topic = newTopic();
      await bus.publish([]);
      await bus.publish(buildEvents(topic, "v_1", 1_000));

      const { seen, handler } = recorder();
      await bus.subscribe({ group: newGroup(), topics: [topic], handler });
      await soon(() => expect(seen).toHaveLength(1_000));
      expect(idsOf(seen)).toEqual(idsOf(buildEvents(topic, "v_1", 1_000)));
      await bus.close(CLOSE_MS);
    });
  });

  describe.concurrent("a handler that fails", () => {
    test("gets the same events again, before any later one of their key", async () => {
      const bus = await broker().connect();
      const topic = newTopic();
      const { seen, handler } = recorder();
      let failures = 0;
      await bus.subscribe({
        group: newGroup(),
        topics: [topic],
        handler: async (batch, context) => {
          failures += 1;
          if (failures <= 2) throw new Error("not today");
          await handler(batch, context);
        },
      });
      await bus.publish(buildEvents(topic, "v_1", 10));
      await bus.publish([buildEvent(topic, "v_1", 11)]);

      await soon(() => expect(idsOf(seen)).toEqual(idsOf(buildEvents(topic, "v_1", 11))));
      await bus.close(CLOSE_MS);
    });

    test("waits out a transient failure, however long, without dead letters", async () => {
      const bus = await broker().connect();
      const topic = newTopic();
      const group = newGroup();
      const { seen, handler } = recorder();
      let failures = 0;
      await bus.subscribe({
        group,
        topics: [topic],
        handler: async (batch, context) => {
          failures += 1;
          if (failures <= 12) throw passingTrouble();
          await handler(batch, context);
        },
      });
      await bus.publish([buildEvent(topic, "v_1", 1)]);

      await soon(() => expect(idsOf(seen)).toEqual(["v_1-1"]));
      expect(await bus.deadLetters({ group }, 10)).toEqual([]);
      await bus.close(CLOSE_MS);
    });

    test("moves a failing event to the dead letters and continues with the others", async () => {
      const bus = await broker().connect();
      const topic = newTopic();
      const group = newGroup();
      const { seen, handler } = recorder();
      const poison = {
        ...buildEvent(topic, "v_1", 7),
        schemaVersion: 2,
        entityVersion: 7n,
        epoch: 1,
        headers: { traceparent: "00-ab" },
      };
      await bus.subscribe({ group, topics: [topic], handler: refusing(poison.id, handler) });
      const events = buildEvents(topic, "v_1", 20);
      await bus.publish(events.with(6, poison));

      const others = idsOf(events).filter((id) => id !== poison.id);
      await soon(() => expect(idsOf(seen)).toEqual(others));
      await soon(async () => expect(await bus.lag(group)).toEqual([]));

      const letters = await bus.deadLetters({ group }, 10);
      expect(letters).toEqual([
        {
          group,
          event: { ...poison, partition: seen[0]?.partition, offset: expect.any(BigInt) as bigint },
          error: expect.stringContaining("v_1-7 makes no sense") as string,
          attempts: 3,
          buriedAt: expect.any(Date) as Date,
        },
      ]);
      await bus.close(CLOSE_MS);
    });

    test("sets events of a newer version of its message aside, and handles the others", async () => {
      const bus = await broker().connect();
      const [topic, group] = [newTopic(), newGroup()];
      const read: Duration[] = [];
      await bus.subscribe({
        group,
        topics: [topic],
        handler: async (batch) => {
          const messages = batch.flatMap((event) => eventMessage(event, DurationSchema) ?? []);
          read.push(...messages);
        },
      });
      const lasting = (seconds: bigint, nth: number): EventEnvelope => ({
        ...buildEvent(topic, "v_1", nth),
        type: DurationSchema.typeName,
        payload: toBinary(DurationSchema, create(DurationSchema, { seconds })),
      });
      await bus.publish([
        { ...lasting(10n, 1), schemaVersion: 1 },
        { ...lasting(20n, 2), schemaVersion: 2 },
        // A type that the handler does not read, in any version.
        { ...buildEvent(topic, "v_1", 3), schemaVersion: 9 },
        lasting(40n, 4),
      ]);

      await soon(() => expect(read.map(({ seconds }) => seconds)).toEqual([10n, 40n]));
      const reason =
        "version 2 of google.protobuf.Duration is newer than version 1, which this release reads";
      const letters = await bus.deadLetters({ group }, 10);
      expect(letters.map(({ event, error }) => [event.id, event.schemaVersion, error])).toEqual([
        ["v_1-2", 2, expect.stringContaining(reason)],
      ]);
      await bus.close(CLOSE_MS);
    });

    test("receives a replayed dead letter once its cause is fixed", async () => {
      const bus = await broker().connect();
      const topic = newTopic();
      const group = newGroup();
      const { seen, handler } = recorder();
      let mended = false;
      await bus.subscribe({
        group,
        topics: [topic],
        handler: (batch, context) =>
          (mended ? handler : refusing("v_1-1", handler))(batch, context),
      });
      await bus.publish([buildEvent(topic, "v_1", 1)]);
      await soon(async () => expect(await bus.deadLetters({ group }, 10)).toHaveLength(1));

      mended = true;
      const [letter] = await bus.deadLetters({ group }, 10);
      await bus.replay(letter!);
      await bus.replay(letter!);

      await soon(() => expect(idsOf(seen)).toEqual(["v_1-1"]));
      expect(await bus.deadLetters({ group }, 10)).toEqual([]);
      await bus.close(CLOSE_MS);
      expect(idsOf(seen)).toEqual(["v_1-1"]);
    });
  });
}

const refusing =
  (id: string, handler: ReturnType<typeof recorder>["handler"]): typeof handler =>
  async (batch, context) => {
    if (batch.some((event) => event.id === id)) throw new Error(`${id} makes no sense`);
    await handler(batch, context);
  };
