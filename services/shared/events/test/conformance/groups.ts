import { setTimeout as pause } from "node:timers/promises";

import type { DeliveredEvent, EventEnvelope } from "@scrip/events";
import { describe, expect, test } from "vitest";

import {
  type Broker,
  CLOSE_MS,
  firstSeenByKey,
  buildEvent,
  buildEvents,
  newGroup,
  newTopic,
  idsOf,
  inOrderByKey,
  passingTrouble,
  recorder,
  soon,
} from "./broker.ts";

const KEYS = Array.from({ length: 40 }, (_, index) => `v_${index}`);

export function groupConformance(broker: () => Broker): void {
  describe.concurrent("a group", () => {
    test("receives the events of each key in their order, from any of three members", async () => {
      const topic = newTopic();
      const group = newGroup();
      const buses = await Promise.all([1, 2, 3].map(() => broker().connect()));
      const all: DeliveredEvent[] = [];
      const members = buses.map(() => recorder());
      await Promise.all(
        buses.map((bus, index) =>
          bus.subscribe({
            group,
            topics: [topic],
            handler: async (batch, context) => {
              await pause(Math.random() * 5);
              all.push(...batch);
              await members[index]!.handler(batch, context);
            },
          }),
        ),
      );
      for (const batch of interleave(topic, KEYS, 30)) await buses[0]!.publish(batch);

      await soon(() => expect(firstSeenByKey(all)).toEqual(inOrderByKey(KEYS, 30)));
      await soon(() =>
        expect(members.filter(({ seen }) => seen.length > 0).length).toBeGreaterThan(0),
      );
      await Promise.all(buses.map((bus) => bus.close(CLOSE_MS)));
    });

    test("assigns partitions to a member that joins, and takes over those of one that leaves", async () => {
      const topic = newTopic();
      const group = newGroup();
      const all: DeliveredEvent[] = [];
      const [first, second] = [recorder(), recorder()];
      const both = (own: typeof first) => async (batch: readonly DeliveredEvent[]) => {
        all.push(...batch);
        own.seen.push(...batch);
      };
      const bus = await broker().connect();
      await bus.subscribe({ group, topics: [topic], handler: both(first) });
      await bus.publish(roundOf(topic, 1));
      await soon(() => expect(first.seen).toHaveLength(KEYS.length));

      const other = await broker().connect();
      const joined = await other.subscribe({ group, topics: [topic], handler: both(second) });
      let round = 1;
      await soon(async () => {
        round += 1;
        await bus.publish(roundOf(topic, round));
        await pause(50);
        expect(second.seen.length).toBeGreaterThan(0);
      });

      await joined.close(CLOSE_MS);
      const seenAtLeave = second.seen.length;
      round += 1;
      await bus.publish(roundOf(topic, round));
      await soon(() => expect(firstSeenByKey(all)).toEqual(inOrderByKey(KEYS, round)));
      expect(second.seen).toHaveLength(seenAtLeave);
      expect(all).toHaveLength(KEYS.length * round);
      await Promise.all([bus.close(CLOSE_MS), other.close(CLOSE_MS)]);
    });

    test("leaves with all groups of a bus whose subscriptions close, which still publishes", async () => {
      const topic = newTopic();
      const groups = [newGroup(), newGroup()];
      const [leaving, staying] = await Promise.all([broker().connect(), broker().connect()]);
      const left = recorder();
      await Promise.all(
        groups.map((group) => leaving.subscribe({ group, topics: [topic], handler: left.handler })),
      );
      await leaving.publish([buildEvent(topic, "v_1", 1)]);
      await soon(() => expect(left.seen).toHaveLength(groups.length));

      await leaving.closeSubscriptions(CLOSE_MS);
      await leaving.publish([buildEvent(topic, "v_1", 2)]);
      const stayed = groups.map(() => recorder());
      await Promise.all(
        groups.map((group, index) =>
          staying.subscribe({ group, topics: [topic], handler: stayed[index]!.handler }),
        ),
      );
      await soon(() => {
        for (const { seen } of stayed)
          expect(idsOf(seen)).toEqual(idsOf([buildEvent(topic, "v_1", 2)]));
      });
      expect(left.seen).toHaveLength(groups.length);
      await Promise.all([leaving.close(CLOSE_MS), staying.close(CLOSE_MS)]);
    });

    test("receives again the unfinished events of a member that died", async () => {
      const topic = newTopic();
      const group = newGroup();
      const [dying, living] = await Promise.all([broker().connect(), broker().connect()]);
      let held = 0;
      await dying.subscribe({
        group,
        topics: [topic],
        handler: (batch) => {
          held += batch.length;
          return new Promise(() => {});
        },
      });
      await living.publish(buildEvents(topic, "v_1", 5));
      await soon(() => expect(held).toBe(5));
      await dying.crash();

      const { seen, handler } = recorder();
      await living.subscribe({ group, topics: [topic], handler });
      await soon(() => expect(idsOf(seen)).toEqual(idsOf(buildEvents(topic, "v_1", 5))));
      await living.close(CLOSE_MS);
    });

    test("is independent of other groups, which receive the same events", async () => {
      const bus = await broker().connect();
      const topic = newTopic();
      const { seen, handler } = recorder();
      const stuck = newGroup();
      await bus.subscribe({
        group: stuck,
        topics: [topic],
        handler: () => Promise.reject(passingTrouble()),
      });
      await bus.subscribe({ group: newGroup(), topics: [topic], handler });
      await bus.publish(buildEvents(topic, "v_1", 50));

      await soon(() => expect(idsOf(seen)).toEqual(idsOf(buildEvents(topic, "v_1", 50))));
      expect(await bus.lag(stuck)).toEqual([{ topic, partition: seen[0]?.partition, behind: 50n }]);
      await bus.close(CLOSE_MS);
    });

    test("is not blocked by a stuck key in another partition", async () => {
      const bus = await broker().connect();
      const topic = newTopic();
      const { seen, handler } = recorder();
      await bus.subscribe({
        group: newGroup(),
        topics: [topic],
        handler: async (batch, context) => {
          if (batch.some((event) => event.key === "v_0")) throw passingTrouble();
          await handler(batch, context);
        },
      });
      await bus.publish([buildEvent(topic, "v_0", 1)]);
      await bus.publish(KEYS.slice(1).map((key) => buildEvent(topic, key, 1)));

      // Most of the forty keys are in another partition than the first.
      await soon(() => expect(seen.length).toBeGreaterThan(KEYS.length / 2));
      await bus.close(CLOSE_MS);
    });

    test("delivers the events of a partition again when those of another one fail beside them", async () => {
      const bus = await broker().connect();
      const topic = newTopic();
      const group = newGroup();
      const { seen, handler } = recorder();
      await bus.publish(KEYS.map((key) => buildEvent(topic, key, 1)));
      await bus.subscribe({
        group,
        topics: [topic],
        handler: async (batch, context) => {
          if (batch.some((event) => event.key === "v_0")) throw new Error("v_0 makes no sense");
          await handler(batch, context);
        },
      });

      const others = KEYS.slice(1).map((key) => `${key}-1`);
      await soon(() => expect(idsOf(seen).toSorted()).toEqual(others.toSorted()));
      await soon(async () => expect(await bus.deadLetters({ group }, 10)).toHaveLength(1));
      await soon(async () => expect(await bus.lag(group)).toEqual([]));
      await bus.close(CLOSE_MS);
    });

    test("reads several topics, from the oldest event when it is new", async () => {
      const bus = await broker().connect();
      const [orders, vouchers] = [newTopic(), newTopic()];
      await bus.publish([buildEvent(orders, "o_1", 1), buildEvent(vouchers, "v_1", 1)]);
      const { seen, handler } = recorder();
      await bus.subscribe({ group: newGroup(), topics: [orders, vouchers], handler });
      await bus.publish([buildEvent(orders, "o_1", 2)]);

      await soon(() =>
        expect(firstSeenByKey(seen)).toEqual({ o_1: ["o_1-1", "o_1-2"], v_1: ["v_1-1"] }),
      );
      await bus.close(CLOSE_MS);
    });

    test("reports its lag", async () => {
      const bus = await broker().connect();
      const topic = newTopic();
      const group = newGroup();
      expect(await bus.lag(group)).toEqual([]);
      const { handler } = recorder();
      const subscription = await bus.subscribe({ group, topics: [topic], handler });
      await bus.publish(buildEvents(topic, "v_1", 3));
      await soon(async () => expect(await bus.lag(group)).toEqual([]));
      await subscription.close(CLOSE_MS);

      await bus.publish(buildEvents(topic, "v_1", 4));
      expect((await bus.lag(group)).map(({ behind }) => behind)).toEqual([4n]);
      await bus.close(CLOSE_MS);
    });
  });

  describe.concurrent("closing", () => {
    test("lets handlers finish, so that their events do not come again", async () => {
      const topic = newTopic();
      const group = newGroup();
      const bus = await broker().connect();
      let begun = 0;
      const { seen, handler } = recorder();
      await bus.subscribe({
        group,
        topics: [topic],
        handler: async (batch, context) => {
          begun += batch.length;
          await pause(300);
          await handler(batch, context);
        },
      });
      await bus.publish(buildEvents(topic, "v_1", 3));
      await soon(() => expect(begun).toBe(3));
      await bus.close(CLOSE_MS);
      expect(seen).toHaveLength(3);

      const next = await broker().connect();
      const after = recorder();
      await next.subscribe({ group, topics: [topic], handler: after.handler });
      await next.publish([buildEvent(topic, "v_1", 4)]);
      await soon(() => expect(idsOf(after.seen)).toEqual(["v_1-4"]));
      await next.close(CLOSE_MS);
    });

    test("meets its deadline when a handler does not end, and the events come again", async () => {
      const topic = newTopic();
      const group = newGroup();
      const bus = await broker().connect();
      let aborted = false;
      let begun = false;
      await bus.subscribe({
        group,
        topics: [topic],
        handler: (_batch, { signal }) => {
          begun = true;
          signal.addEventListener("abort", () => {
            aborted = true;
          });
          return new Promise(() => {});
        },
      });
      await bus.publish([buildEvent(topic, "v_1", 1)]);
      await soon(() => expect(begun).toBe(true));

      await bus.close(500);
      expect(aborted).toBe(true);

      const next = await broker().connect();
      const { seen, handler } = recorder();
      await next.subscribe({ group, topics: [topic], handler });
      await soon(() => expect(idsOf(seen)).toEqual(["v_1-1"]));
      await next.close(CLOSE_MS);
    });
  });
}

const roundOf = (topic: string, nth: number): EventEnvelope[] =>
  KEYS.map((key) => buildEvent(topic, key, nth));

/** Batches with interleaved keys. */
const interleave = (topic: string, keys: readonly string[], count: number): EventEnvelope[][] =>
  Array.from({ length: count }, (_, index) => keys.map((key) => buildEvent(topic, key, index + 1)));
