import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import {
  countPending,
  createPgEventBus,
  type DeliveredEvent,
  enqueue,
  type EventBus,
  OUTBOX_READER,
  outboxTable,
  type PgEventBus,
  publishPending,
  readRetainedEvents,
  type Relay,
  republishSince,
  startRelay,
} from "@scrip/events";
import {
  createDatabase,
  type Database,
  maintainPartitions,
  migrate,
  type Queryable,
} from "@scrip/postgres";
import { emptyDatabase } from "@scrip/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import type { OutboxPosition } from "../src/outbox-position.ts";
import { findUnpublished } from "../src/outbox.ts";
import { appendReferences } from "../src/pg/log.ts";
import { buildEvent, buildEvents, CLOSE_MS, idsOf, newTopic, soon } from "./conformance/broker.ts";

const SERVICE = { schema: "service", role: "scrip_service" };
const FIXTURE = path.join(import.meta.dirname, "fixture");
const onError = (): void => {};

let parts: AsyncDisposableStack;
let url: string;
let bus: PgEventBus;
let db: Database;
/** The role of the bus, which reads what consumers read. */
let log: Database;

beforeAll(async () => {
  await using made = new AsyncDisposableStack();
  ({ url } = made.use(await emptyDatabase()));
  const opened = await createPgEventBus({ url, onError });
  made.defer(() => opened.close(CLOSE_MS));
  bus = opened;
  await migrate({ url, ...SERVICE, folder: FIXTURE, reader: OUTBOX_READER });
  db = createDatabase({ url, ...SERVICE, poolSize: 6, onError });
  made.defer(() => db.close());
  log = createDatabase({ url, schema: "events", role: "scrip_events", poolSize: 1, onError });
  made.defer(() => log.close());
  parts = made.move();
});
afterAll(() => parts.disposeAsync());

beforeEach(async () => {
  await db.query("delete from outbox");
  await db.query("delete from outbox_position");
});

/** Collects the events of a topic, each once, in the order of the log. */
async function published(topic: string): Promise<string[]> {
  const events: DeliveredEvent[] = await Array.fromAsync(readRetainedEvents(log, topic));
  return [...new Set(idsOf(events.toSorted((a, b) => Number(a.offset - b.offset))))];
}

const write = (tx: Queryable, topic: string, nth: number) =>
  enqueue(tx, [buildEvent(topic, "v_1", nth)], undefined);

/** A transaction that has begun to write, and commits when it is told to. */
async function begin(work: (tx: Queryable) => Promise<void>) {
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done = db.transaction(async (tx) => {
    await work(tx);
    begun.resolve();
    await released.promise;
  });
  await begun.promise;
  return {
    commit: async () => {
      released.resolve();
      await done;
    },
  };
}

describe("an outbox that consumers read in place", () => {
  test("is published without its events, which remain in it", async () => {
    const topic = newTopic();
    await enqueue(db, buildEvents(topic, "v_1", 20), undefined);
    await publishPending(db, bus, 500);
    const { rows } = await log.query<{ events: Uint8Array }>(
      "select events from bus_batch where topic = $1",
      [topic],
    );
    // A form, the schema, two times, and a byte for each row but the first.
    expect(rows[0]?.events.length).toBeLessThan(45);
    expect(await published(topic)).toEqual(idsOf(buildEvents(topic, "v_1", 20)));
  });

  test("waits for no transaction, and misses none that commits late", async () => {
    const topic = newTopic();
    const early = await begin((tx) => write(tx, topic, 1));
    await write(db, topic, 2);
    await publishPending(db, bus, 500);
    expect(await published(topic)).toEqual(["v_1-2"]);
    // The mark moves on while the transaction runs.
    for (let nth = 3; nth <= 6; nth += 1) {
      await write(db, topic, nth);
      await publishPending(db, bus, 500);
    }
    await early.commit();
    await publishPending(db, bus, 500);
    expect(await published(topic)).toEqual(["v_1-2", "v_1-3", "v_1-4", "v_1-5", "v_1-6", "v_1-1"]);
    expect(await countPending(db)).toBe(0);
  });

  test("misses no transaction that runs while nothing else is written", async () => {
    const topic = newTopic();
    const late = await begin((tx) => write(tx, topic, 1));
    let position: OutboxPosition | undefined;
    for (let reading = 1; reading <= 3; reading += 1) {
      ({ position } = await publishPending(db, bus, 500, position));
    }
    await late.commit();
    ({ position } = await publishPending(db, bus, 500, position));
    expect(await published(topic)).toEqual(["v_1-1"]);
    // Then readings begin behind it, as soon as the transactions of other tests on this server have ended.
    const lowSeqAfterNext = async () => {
      ({ position } = await publishPending(db, bus, 500, position));
      return position?.lowSeq;
    };
    await expect.poll(lowSeqAfterNext, { timeout: 20_000 }).toBeGreaterThan(0n);
  });

  test("keeps the order of a key whose first writer began last", async () => {
    const topic = newTopic();
    // Has the smaller transaction id, and locks the key after the other.
    const first = await begin(async (tx) => {
      await tx.query("insert into counter (key) values ($1)", [topic]);
    });
    const other = await begin(async (tx) => {
      await tx.query("insert into counter (key) values ($1)", [`other ${topic}`]);
    });
    await write(db, topic, 1);
    const late = await begin((tx) => write(tx, topic, 2));
    await publishPending(db, bus, 500);
    await first.commit();
    await late.commit();
    await write(db, topic, 3);
    await publishPending(db, bus, 1);
    await other.commit();
    for (let round = 0; round < 4; round += 1) await publishPending(db, bus, 1);
    expect(await published(topic)).toEqual(["v_1-1", "v_1-2", "v_1-3"]);
  });

  test("publishes a long queue in parts, each row once", async () => {
    const topic = newTopic();
    await enqueue(db, buildEvents(topic, "v_1", 25), undefined);
    const counts: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      counts.push((await publishPending(db, bus, 10)).published);
      if (round === 0) await write(db, topic, 26);
    }
    expect(counts).toEqual([10, 10, 5, 1, 0]);
    expect(await published(topic)).toEqual(idsOf(buildEvents(topic, "v_1", 26)));
  });

  test("reads no rows again that it has published", async () => {
    const topic = newTopic();
    let nth = 0;
    const behindAfterNext = async (): Promise<number> => {
      nth += 1;
      await write(db, topic, nth);
      await publishPending(db, bus, 500);
      const { rows } = await db.query<{ behind: bigint }>(
        "select (select max(seq) from outbox) - low_seq as behind from outbox_position",
      );
      return Number(rows[0]?.behind);
    };
    // As soon as the transactions of other tests on this server have ended.
    await expect.poll(behindAfterNext, { timeout: 20_000 }).toBeLessThanOrEqual(2);
  });

  test("looks at a bounded number of rows at a time, however many a long transaction keeps from being passed", async () => {
    const topic = newTopic();
    const early = await begin((tx) => write(tx, topic, 1));
    await db.query(
      `insert into outbox (project_id, id, topic, key, payload)
       select 'proj_1', 'before-' || nth, $1, 'v_0', '' from generate_series(1, 45000) as nth`,
      [topic],
    );
    await db.query(
      "insert into outbox_position (name, published) values ('relay', pg_current_snapshot())",
    );
    const readAll = async () => {
      const counts: number[] = [];
      let position: OutboxPosition | undefined;
      do {
        const publication = await publishPending(db, bus, 500, position);
        ({ position } = publication);
        counts.push(publication.published);
      } while (position?.reading != null);
      return counts;
    };
    await write(db, topic, 2);
    expect(await readAll()).toEqual([0, 0, 1]);
    expect(await findUnpublished(db)).toEqual({ since: null, rows: 0 });
    await write(db, topic, 3);
    expect(await findUnpublished(db)).toEqual({ since: expect.any(Date), rows: 1 });
    await early.commit();
    // The early row has a smaller number than those that are skipped.
    expect(await readAll()).toEqual([1, 0, 1]);
    expect(await published(topic)).toEqual(["v_1-2", "v_1-1", "v_1-3"]);
  });

  test("publishes the restored events again after a restore to a cluster with smaller transaction ids", async () => {
    const topic = newTopic();
    await enqueue(db, buildEvents(topic, "v_1", 3), undefined);
    await publishPending(db, bus, 500);
    await enqueue(db, [buildEvent(topic, "v_1", 4)], undefined);
    const far = "pg_current_xact_id()::text::bigint + 1000000";
    await db.query(`update outbox set xid = (${far})::text::xid8`);
    await db.query(
      `update outbox_position set published = ((${far}) || ':' || (${far}) || ':')::pg_snapshot`,
    );
    await publishPending(db, bus, 500);
    expect((await publishPending(db, bus, 500)).published).toBe(4);
    expect((await publishPending(db, bus, 500)).published).toBe(0);
    expect(await published(topic)).toEqual(idsOf(buildEvents(topic, "v_1", 4)));
  });
});

test("a partition is dropped when its rows are published and handled", async () => {
  const topic = newTopic();
  const relay = startRelay({ db, bus, onError });
  await relay.close();
  const table = { ...outboxTable({ keepMs: 0, keepUnhandledMs: 14 * 86_400_000 }, relay) };
  const maintain = () => maintainPartitions({ url, schema: SERVICE.schema, tables: [table] });
  const remaining = async () =>
    (await db.query("select from outbox where topic = $1", [topic])).rows.length;
  await write(db, topic, 1);
  await db.query("update outbox set created_at = created_at - interval '5 hours'");
  await maintain();
  expect(await remaining()).toBe(1);

  const handled = Promise.withResolvers<void>();
  const refused = Promise.withResolvers<void>();
  const subscription = await bus.subscribe({
    group: "slow",
    topics: [topic],
    handler: () => refused.promise.then(handled.resolve),
  });
  await publishPending(db, bus, 500);
  await maintain();
  expect(await remaining()).toBe(1);

  refused.resolve();
  subscription.poll();
  await handled.promise;
  await subscription.close(CLOSE_MS);
  await maintain();
  expect(await remaining()).toBe(0);
});

describe("a partition with rows that a group has not handled is kept", () => {
  const DAY_MS = 86_400_000;
  const HOURS_AGO =
    "update outbox set created_at = created_at - interval '9 hours' where topic = $1";

  /** Publishes rows of nine hours ago that a group has not handled, and maintains the partitions with `relay`. */
  const remainingAfter = async (
    topic: string,
    maintainWith: () => Promise<Pick<Relay, "unpublishedSince" | "unhandledSince">>,
  ): Promise<number> => {
    const never = Promise.withResolvers<void>();
    const subscription = await bus.subscribe({
      group: `group of ${topic}`,
      topics: [topic],
      handler: () => never.promise,
    });
    await write(db, topic, 1);
    await db.query(HOURS_AGO, [topic]);
    await publishPending(db, bus, 500);
    const table = outboxTable({ keepMs: 0, keepUnhandledMs: 14 * DAY_MS }, await maintainWith());
    await maintainPartitions({ url, schema: SERVICE.schema, tables: [table] });
    never.resolve();
    await subscription.close(CLOSE_MS);
    await log.query("delete from bus_offset where topic = $1", [topic]);
    return (await db.query("select from outbox where topic = $1", [topic])).rows.length;
  };

  const stoppedRelay = async (ofBus: EventBus) => {
    const relay = startRelay({ db, bus: ofBus, onError });
    await relay.close();
    return relay;
  };

  test("also when a relay that was stopped published them behind younger events of others", async () => {
    const topic = newTopic();
    // By another service.
    await appendReferences(log, "another", [
      { seq: 1n, topic, partition: 0, size: 1, createdAt: new Date() },
    ]);
    expect(await remainingAfter(topic, () => stoppedRelay(bus))).toBe(1);
  });

  test("also when the outbox cannot be opened any more", async () => {
    const closed: EventBus = { ...bus, openOutbox: async () => undefined };
    expect(await remainingAfter(newTopic(), () => stoppedRelay(closed))).toBe(1);
  });
});

test("an upgrade publishes the events that an earlier release left unpublished, and stops its relay", async () => {
  const folder = path.join(import.meta.dirname, "../../../voucher/migrations");
  await using made = new AsyncDisposableStack();
  const database = made.use(await emptyDatabase());
  const service = { url: database.url, schema: "voucher", role: "scrip_voucher" };
  const before = await mkdtemp(path.join(tmpdir(), "scrip-outbox-"));
  made.defer(() => rm(before, { recursive: true }));
  const files = (await readdir(folder)).toSorted();
  const upgrade = files.findIndex((name) => name.endsWith("_outbox_partitions.sql"));
  for (const name of files.slice(0, upgrade)) {
    await cp(path.join(folder, name), path.join(before, name));
  }
  await migrate({ ...service, folder: before });
  const upgraded = await createPgEventBus({ url: database.url, onError });
  made.defer(() => upgraded.close(CLOSE_MS));
  const own = createDatabase({ ...service, poolSize: 2, onError });
  made.defer(() => own.close());
  const topic = newTopic();
  const insert = (nth: number) =>
    own.query(
      `insert into outbox (project_id, id, topic, key, type, payload)
       values ('proj_1', $1, $2, 'v_1', null, 'x') on conflict do nothing`,
      [`v_1-${nth}`, topic],
    );
  // Published by the earlier release, and not handled yet.
  await upgraded.publish([buildEvent(topic, "v_1", 1)]);
  for (const nth of [2, 3]) await insert(nth);

  await migrate({ ...service, folder, reader: OUTBOX_READER });
  await expect(own.query("select from outbox_lease")).rejects.toThrow("does not exist");
  // By a process of the earlier release.
  await insert(4);
  await publishPending(own, upgraded, 500);
  const seen: DeliveredEvent[] = [];
  const done = Promise.withResolvers<void>();
  await upgraded.subscribe({
    group: "readers",
    topics: [topic],
    handler: async (batch) => {
      seen.push(...batch);
      if (seen.length === 4) done.resolve();
    },
  });
  await done.promise;
  expect(idsOf(seen)).toEqual(["v_1-1", "v_1-2", "v_1-3", "v_1-4"]);
});

describe("an outbox that is published again", () => {
  /** All copies of a topic's events, in the order of the log. */
  const copies = async (topic: string): Promise<readonly string[]> => {
    const events = await Array.fromAsync(readRetainedEvents(log, topic));
    return idsOf(events.toSorted((a, b) => Number(a.offset - b.offset)));
  };
  const publishAll = async (): Promise<void> => {
    while ((await publishPending(db, bus, 2)).published > 0);
  };
  const timeOf = async (id: string): Promise<Date> => {
    const { rows } = await db.query<{ created_at: Date }>(
      "select created_at from outbox where id = $1",
      [id],
    );
    return rows[0]?.created_at ?? new Date(0);
  };

  test("repeats the events from a time on, in their order", async () => {
    const topic = newTopic();
    for (const nth of [1, 2, 3]) await db.transaction((tx) => write(tx, topic, nth));
    await db.query(
      "update outbox set created_at = created_at - interval '1 hour' where id = 'v_1-1'",
    );
    await publishAll();
    const since = await timeOf("v_1-2");
    expect(await republishSince(db, since)).toEqual(since);
    await write(db, topic, 4);
    await publishAll();
    expect(await copies(topic)).toEqual(["v_1-1", "v_1-2", "v_1-3", "v_1-2", "v_1-3", "v_1-4"]);
    expect(await countPending(db)).toBe(0);
  });

  test("is noticed by a relay that reads at the same time", async () => {
    const topic = newTopic();
    await write(db, topic, 1);
    const { position } = await publishPending(db, bus, 500);
    await republishSince(db, new Date(0));
    await write(db, topic, 2);
    const overtaken = await publishPending(db, bus, 500, position);
    expect(overtaken.position).toBeUndefined();
    await publishAll();
    expect(new Set(await copies(topic))).toEqual(new Set(["v_1-1", "v_1-2"]));
    expect((await copies(topic)).filter((id) => id === "v_1-1")).toHaveLength(2);
  });

  test("is noticed by an idle relay, without a new event", async () => {
    const topic = newTopic();
    await write(db, topic, 1);
    const relay = startRelay({ db, bus, onError, timings: { leaseMs: 100, idlePollMs: 10 } });
    const copied = (times: number) => async () =>
      expect(await copies(topic)).toEqual(Array<string>(times).fill("v_1-1"));
    await soon(copied(1));
    await republishSince(db, await timeOf("v_1-1"));
    await soon(copied(2));
    await relay.close();
  });

  test("repeats nothing when it retains no event of that time", async () => {
    const topic = newTopic();
    await write(db, topic, 1);
    await publishAll();
    expect(await republishSince(db, new Date(Date.now() + 3_600_000))).toBeNull();
    await publishAll();
    expect(await copies(topic)).toEqual(["v_1-1"]);
  });
});
