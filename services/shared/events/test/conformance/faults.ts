import { setTimeout as pause } from "node:timers/promises";

import type { DeliveredEvent } from "@scrip/events";
import { describe, expect, test } from "vitest";

import {
  type Broker,
  buildEvent,
  buildEvents,
  CLOSE_MS,
  firstSeenByKey,
  idsOf,
  inOrderByKey,
  newGroup,
  newTopic,
  recorder,
  soon,
} from "./broker.ts";

/** What drivers say of a server that cannot be reached. */
export const AWAY = /ECONNREFUSED|ECONNRESET|EPIPE|connection|disconnected|leaderless/iu;

/** Longer than a member without heartbeats remains in its group. */
const EXPELLED_MS = 4_000;

export function faultConformance(broker: () => Broker): void {
  describe.concurrent("a broker that is away", () => {
    test("fails to publish, and receives and delivers again once it is back", async () => {
      const bus = await broker().connect();
      const topic = newTopic();
      const { seen, handler } = recorder();
      await bus.subscribe({ group: newGroup(), topics: [topic], handler });
      await bus.publish([buildEvent(topic, "v_1", 1)]);
      await soon(() => expect(idsOf(seen)).toEqual(["v_1-1"]));

      await bus.disconnect();
      await expect(bus.publish([buildEvent(topic, "v_1", 2)])).rejects.toThrow(AWAY);
      await bus.reconnect();

      await soon(() => bus.publish([buildEvent(topic, "v_1", 2)]));
      await soon(() => expect(firstSeenByKey(seen)).toEqual(inOrderByKey(["v_1"], 2)));
      await bus.close(CLOSE_MS);
    });

    test("delivers what others published meanwhile to a member whose connections hung", async () => {
      const [bus, other] = await Promise.all([broker().connect(), broker().connect()]);
      const topic = newTopic();
      const { seen, handler } = recorder();
      await bus.subscribe({ group: newGroup(), topics: [topic], handler });
      await other.publish(buildEvents(topic, "v_1", 3));
      await soon(() => expect(seen).toHaveLength(3));

      bus.freeze();
      await other.publish([buildEvent(topic, "v_1", 4)]);
      await pause(EXPELLED_MS);
      bus.thaw();
      await other.publish([buildEvent(topic, "v_1", 5)]);

      await soon(() => expect(firstSeenByKey(seen)).toEqual(inOrderByKey(["v_1"], 5)));
      await Promise.all([bus.close(CLOSE_MS), other.close(CLOSE_MS)]);
    });
  });

  describe.concurrent("a group whose members are killed", () => {
    test("delivers each event, those of a key in their order", async () => {
      const topic = newTopic();
      const group = newGroup();
      const keys = ["v_1", "v_2", "v_3", "v_4"];
      const all: DeliveredEvent[] = [];
      const publisher = await broker().connect();
      const join = async () => {
        const bus = await broker().connect();
        await bus.subscribe({
          group,
          topics: [topic],
          handler: async (batch) => {
            all.push(...batch);
            await pause(Math.random() * 20);
          },
        });
        return bus;
      };
      let member = await join();
      const rounds = 9;
      for (let round = 1; round <= rounds; round += 1) {
        await publisher.publish(keys.map((key) => buildEvent(topic, key, round)));
        await pause(Math.random() * 50);
        if (round % 3 !== 0) continue;
        await member.crash();
        member = await join();
      }
      await soon(() => expect(firstSeenByKey(all)).toEqual(inOrderByKey(keys, rounds)));
      await soon(async () => expect(await publisher.lag(group)).toEqual([]));
      await Promise.all([member.close(CLOSE_MS), publisher.close(CLOSE_MS)]);
    });

    test("gives the events to a group that is created later again, from the oldest one", async () => {
      const bus = await broker().connect();
      const topic = newTopic();
      const [first, second] = [recorder(), recorder()];
      await bus.publish(buildEvents(topic, "v_1", 20));
      await bus.subscribe({ group: newGroup(), topics: [topic], handler: first.handler });
      await soon(() => expect(first.seen).toHaveLength(20));

      await bus.subscribe({ group: newGroup(), topics: [topic], handler: second.handler });
      await soon(() => expect(idsOf(second.seen)).toEqual(idsOf(first.seen)));
      await bus.close(CLOSE_MS);
    });
  });
}
