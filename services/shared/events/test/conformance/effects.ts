import { randomUUID } from "node:crypto";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import {
  countPending,
  type DeliveredEvent,
  enqueue,
  type EventBus,
  inboxHandler,
  type InboxWork,
  type Origin,
  originHeaders,
  OUTBOX_READER,
  publishPending,
  startRelay,
} from "@scrip/events";
import { createDatabase, type Database, migrate, type Queryable } from "@scrip/postgres";
import { testDatabase } from "@scrip/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import {
  type Broker,
  CLOSE_MS,
  buildEvent,
  buildEvents,
  newGroup,
  newTopic,
  idsOf,
  recorder,
  soon,
} from "./broker.ts";

const SERVICE = {
  schema: "service",
  role: "scrip_service",
  folder: path.join(import.meta.dirname, "../fixture"),
};

async function openService(url: string): Promise<Database & AsyncDisposable> {
  await migrate({ url, ...SERVICE, reader: OUTBOX_READER });
  const db = createDatabase({ url, ...SERVICE, poolSize: 10, onError: () => {} });
  return { ...db, [Symbol.asyncDispose]: () => db.close() };
}

const ORIGIN: Origin = {
  requestId: "v-0123456789abcdef01",
  caller: { side: "client", id: "client_1", name: 'Łódź "shop", 100 %' },
};

const TIMINGS = { leaseMs: 3_000, idlePollMs: 50, gatherMs: 5, maxBackOffMs: 50 };

/**
 * From the transaction of one service to the transaction of another. With `databaseUrl`, the service is in that
 * database, where the bus may read its outbox in place.
 */
export function effectConformance(broker: () => Broker, databaseUrl?: () => string): void {
  describe("from outbox to inbox", () => {
    let db: Database & AsyncDisposable;
    const seenErrors: Error[] = [];
    const onError = (error: Error): void => void seenErrors.push(error);

    beforeAll(async () => {
      db =
        databaseUrl === undefined ? await testDatabase(SERVICE) : await openService(databaseUrl());
    });
    afterEach(async () => {
      await db.query("delete from outbox");
      await db.query("delete from outbox_position");
    });
    afterAll(() => db[Symbol.asyncDispose]());

    const consume = (bus: EventBus, topic: string, group: string) =>
      bus.subscribe({ group, topics: [topic], handler: inboxHandler(db, inboxWork(group)) });

    test("applies an event that is published several times once, in its place", async () => {
      const bus = await broker().connect();
      const [topic, group] = [newTopic(), newGroup()];
      const [one, two, three] = buildEvents(topic, "v_1", 3);
      await bus.publish([one!, two!, one!]);
      await bus.publish([one!, two!, three!]);
      await consume(bus, topic, group);
      await bus.publish([two!, three!]);

      await soon(async () => expect(await bus.lag(group)).toEqual([]));
      expect(await effectsOf(db, group)).toEqual({ v_1: ["v_1-1", "v_1-2", "v_1-3"] });
      await bus.close(CLOSE_MS);
    });

    test("applies an event once when a member dies after the effect, before the offset", async () => {
      const [dying, living] = await Promise.all([broker().connect(), broker().connect()]);
      const [topic, group] = [newTopic(), newGroup()];
      const handle = inboxHandler(db, inboxWork(group));
      let done = false;
      await dying.subscribe({
        group,
        topics: [topic],
        handler: async (batch, context) => {
          await handle(batch, context);
          done = true;
          await new Promise(() => {});
        },
      });
      await dying.publish(buildEvents(topic, "v_1", 3));
      await soon(() => expect(done).toBe(true));
      await dying.crash();

      await consume(living, topic, group);
      await soon(async () => expect(await living.lag(group)).toEqual([]));
      expect(await effectsOf(db, group)).toEqual({ v_1: ["v_1-1", "v_1-2", "v_1-3"] });
      await living.close(CLOSE_MS);
    });

    test("applies an event once when a relay dies between publishing and storing its position", async () => {
      const bus = await broker().connect();
      const [topic, group] = [newTopic(), newGroup()];
      await db.transaction((tx) => enqueue(tx, buildEvents(topic, "v_1", 3), undefined));
      const dying = publishingThrough(bus, async (publish) => {
        await publish();
        throw new Error("killed");
      });
      await expect(publishPending(db, dying, 500)).rejects.toThrow("killed");
      expect(await countPending(db)).toBe(3);

      const relay = startRelay({ db, bus, onError, timings: TIMINGS });
      await consume(bus, topic, group);
      await soon(async () => expect(await countPending(db)).toBe(0));
      await soon(async () => expect(await bus.lag(group)).toEqual([]));
      expect(await effectsOf(db, group)).toEqual({ v_1: ["v_1-1", "v_1-2", "v_1-3"] });
      await relay.close();
      await bus.close(CLOSE_MS);
    });

    test("publishes the whole envelope that the transaction wrote", async () => {
      const bus = await broker().connect();
      const [topic, group] = [newTopic(), newGroup()];
      const { occurredAt: _occurredAt, ...event } = {
        ...buildEvent(topic, "v_1", 1),
        schemaVersion: 2,
        entityVersion: 41n,
        headers: originHeaders(ORIGIN),
      };
      await db.transaction((tx) => enqueue(tx, [event], ORIGIN));
      await publishPending(db, bus, 500);
      const { seen, handler } = recorder();
      await bus.subscribe({ group, topics: [topic], handler });
      await soon(() => expect(seen).toHaveLength(1));
      expect(seen[0]).toMatchObject({ ...event, payload: expect.anything() as unknown });
      await bus.close(CLOSE_MS);
    });

    test("keeps the order with two relays that both believe to hold the lease", async () => {
      const bus = await broker().connect();
      const [topic, group] = [newTopic(), newGroup()];
      await consume(bus, topic, group);
      const writing = writeConcurrently(db, topic, { keys: 5, writers: 8, eventsEach: 40 });
      let wrote = false;
      const relayAlways = async (limit: number): Promise<void> => {
        while (!wrote || (await countPending(db)) > 0) {
          await publishPending(db, slowly(bus), limit);
        }
      };
      // Different limits, so that the two cut the outbox in different places.
      const relaying = [relayAlways(7), relayAlways(50)];
      const expected = await writing;
      wrote = true;
      await Promise.all(relaying);

      await soon(async () => expect(await bus.lag(group)).toEqual([]));
      expect(await effectsOf(db, group)).toEqual(expected);
      await bus.close(CLOSE_MS);
    });

    test("runs one of two relays, and the other when it is gone", async () => {
      const bus = await broker().connect();
      const [topic, group] = [newTopic(), newGroup()];
      await consume(bus, topic, group);
      const publishers: number[] = [];
      const relays = [0, 1].map((index) =>
        startRelay({
          db,
          bus: publishingThrough(bus, (publish) => {
            publishers.push(index);
            return publish();
          }),
          onError,
          timings: TIMINGS,
        }),
      );
      const first = await writeConcurrently(db, topic, { keys: 3, writers: 4, eventsEach: 30 });
      await soon(async () => expect(await countPending(db)).toBe(0));
      const [leader] = publishers;
      expect(new Set(publishers)).toEqual(new Set([leader]));

      await relays[leader!]!.close();
      const second = await writeConcurrently(db, topic, { keys: 3, writers: 4, eventsEach: 30 });
      relays[1 - leader!]!.wake();
      await soon(async () => expect(await countPending(db)).toBe(0));
      await soon(async () => expect(await bus.lag(group)).toEqual([]));
      expect(await effectsOf(db, group)).toEqual({ ...first, ...second });
      await relays[1 - leader!]!.close();
      await bus.close(CLOSE_MS);
    });

    test("retains rows while the bus is unavailable, and publishes them later", async () => {
      const bus = await broker().connect();
      const [topic, group] = [newTopic(), newGroup()];
      let away = true;
      const relay = startRelay({
        db,
        bus: publishingThrough(bus, (publish) =>
          away ? Promise.reject(new Error("away")) : publish(),
        ),
        onError,
        timings: TIMINGS,
      });
      await db.transaction((tx) => enqueue(tx, buildEvents(topic, "v_1", 2), undefined));
      relay.wake();
      await soon(() => expect(seenErrors.map((error) => error.message)).toContain("away"));
      expect(await countPending(db)).toBe(2);

      away = false;
      await consume(bus, topic, group);
      await soon(async () =>
        expect(await effectsOf(db, group)).toEqual({ v_1: ["v_1-1", "v_1-2"] }),
      );
      await relay.close();
      await bus.close(CLOSE_MS);
    });

    test("publishes nothing of a failed transaction", async () => {
      const bus = await broker().connect();
      const topic = newTopic();
      const doomed = db.transaction(async (tx) => {
        await enqueue(tx, [buildEvent(topic, "v_1", 1)], undefined);
        throw new Error("refused");
      });
      await expect(doomed).rejects.toThrow("refused");
      expect((await publishPending(db, bus, 500)).published).toBe(0);
      await bus.close(CLOSE_MS);
    });
  });
}

/** The effect under test: a row per event, in the order of the transactions. */
const inboxWork = (consumer: string): InboxWork<DeliveredEvent> => ({
  consumer,
  read: (event) => event,
  work: applyTo(consumer),
});

const applyTo =
  (consumer: string) =>
  async (tx: Queryable, events: readonly { projectId: string; key: string; id: string }[]) => {
    await tx.query(
      `insert into effect (project_id, consumer, key, event_id)
       select project_id, $1, key, event_id
         from unnest($2::text[], $3::text[], $4::text[]) as e (project_id, key, event_id)`,
      [consumer, events.map((e) => e.projectId), events.map((e) => e.key), idsOf(events)],
    );
  };

async function effectsOf(db: Queryable, consumer: string): Promise<Record<string, string[]>> {
  const { rows } = await db.query<{ key: string; ids: string[] }>(
    `select key, array_agg(event_id order by nth) as ids
       from effect where consumer = $1 group by key`,
    [consumer],
  );
  return Object.fromEntries(rows.map((row) => [row.key, row.ids]));
}

/**
 * Writers that lock a key's row one after the other, as redemptions of a voucher do, with ids in
 * random order. Returns the ids of each key as they were committed.
 */
async function writeConcurrently(
  db: Database,
  topic: string,
  load: { readonly keys: number; readonly writers: number; readonly eventsEach: number },
): Promise<Record<string, string[]>> {
  const keys = Array.from({ length: load.keys }, () => `v_${randomUUID()}`);
  await db.query("insert into counter (key) select unnest($1::text[])", [keys]);
  const committed = new Map<string, string[]>(keys.map((key) => [key, []]));
  const write = async (writer: number): Promise<void> => {
    for (let nth = 0; nth < load.eventsEach; nth += 1) {
      const key = keys[(writer + nth) % keys.length]!;
      await db.transaction(async (tx) => {
        // Some begin early and lock late: transactions commit out of the order in which they began.
        await pause(Math.random() * 4);
        const { rows } = await tx.query<{ value: bigint }>(
          "update counter set value = value + 1 where key = $1 returning value",
          [key],
        );
        const id = randomUUID();
        committed.get(key)![Number(rows[0]!.value) - 1] = id;
        await enqueue(tx, [{ ...buildEvent(topic, key, 1), id }], undefined);
      });
    }
  };
  await Promise.all(Array.from({ length: load.writers }, (_, writer) => write(writer)));
  return Object.fromEntries(committed);
}

/** Lets another relay overtake. */
const slowly = (bus: EventBus): EventBus =>
  publishingThrough(bus, async (publish) => {
    await pause(Math.random() * 10);
    await publish();
  });

/** The bus with something around each publication, of events and of rows of an outbox. */
const publishingThrough = (
  bus: EventBus,
  around: (publish: () => Promise<void>) => Promise<void>,
): EventBus => ({
  ...bus,
  publish: (batch) => around(() => bus.publish(batch)),
  async openOutbox(db) {
    const outbox = await bus.openOutbox?.(db);
    return outbox && { ...outbox, publish: (rows) => around(() => outbox.publish(rows)) };
  },
});
