import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import type { DeliveredEvent } from "@scrip/events";
import { createDatabase, type Database, maintainPartitions, migrate } from "@scrip/postgres";
import { emptyDatabase } from "@scrip/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";

import { PARTITIONS } from "../src/partition.ts";
import { decodeBatch, encodeBatch } from "../src/pg/batch-codec.ts";
import { EVENTS_MIGRATIONS, EVENTS_ROLE, EVENTS_SCHEMA } from "../src/pg/events-schema.ts";
import { createOffsets, measureLag } from "../src/pg/group.ts";
import { createLogReader, type PartitionBatch } from "../src/pg/log-reader.ts";
import { logTable } from "../src/pg/log-retention.ts";
import { appendToLog, readBatches, readRetainedEvents } from "../src/pg/log.ts";
import { trimRowLog } from "../src/pg/row-log-trim.ts";
import { buildEvent, buildEvents, newTopic, idsOf } from "./conformance/broker.ts";

const HOUR_MS = 3_600_000;
const RETENTION = { keepMs: 72 * HOUR_MS, keepUnhandledMs: 14 * 24 * HOUR_MS };

const everyPartition = (topic: string) =>
  Array.from({ length: PARTITIONS }, (_, partition) => ({ topic, partition, offset: 0n }));

const eventsOf = (batches: readonly PartitionBatch[]): DeliveredEvent[] =>
  batches.flatMap(({ events }) => events);

const readAll = async (db: Database, topic: string): Promise<DeliveredEvent[]> =>
  Array.fromAsync(readRetainedEvents(db, topic));

let parts: AsyncDisposableStack;
let url: string;
let db: Database;

beforeAll(async () => {
  await using made = new AsyncDisposableStack();
  ({ url } = made.use(await emptyDatabase()));
  const events = { url, schema: EVENTS_SCHEMA, role: EVENTS_ROLE };
  await migrate({ ...events, folder: EVENTS_MIGRATIONS });
  db = createDatabase({ ...events, poolSize: 10, onError: () => {} });
  made.defer(() => db.close());
  parts = made.move();
});
afterAll(() => parts.disposeAsync());

describe("the log", () => {
  test("assigns offsets without gaps in each topic, despite failures and concurrent writers", async () => {
    const topics = [newTopic(), newTopic()];
    const keys = Array.from({ length: 20 }, (_, index) => `v_${index}`);
    const write = (writer: number, round: number): Promise<void> =>
      db.transaction(async (tx) => {
        await appendToLog(
          tx,
          // Each writer in an order of its own, so that unsorted locks would deadlock.
          (writer % 2 === 0 ? topics : topics.toReversed()).flatMap((topic) =>
            keys.map((key) => buildEvent(topic, key, writer * 100 + round)),
          ),
        );
        if (round % 3 === 0) throw new Error("rolled back");
      });
    const writes = Array.from({ length: 8 }, async (_, writer) => {
      for (let round = 0; round < 12; round += 1) await write(writer, round).catch(() => {});
    });
    await Promise.all(writes);
    for (const topic of topics) {
      const events = await readAll(db, topic);
      const offsets = events.map(({ offset }) => Number(offset)).toSorted((a, b) => a - b);
      expect(offsets).toEqual(Array.from({ length: 8 * 8 * keys.length }, (_, index) => index));
    }
  });

  test("returns all entries to groups at different positions", async () => {
    const topic = newTopic();
    const { read } = createLogReader(db);
    const seen: DeliveredEvent[][] = [[], [], []];
    const offsets = [0n, 0n, 0n];
    await appendToLog(db, [buildEvent(topic, "v_1", -1)]);
    const partition = (await readAll(db, topic))[0]?.partition ?? -1;
    for (let round = 0; round < 30; round += 1) {
      await appendToLog(db, [
        buildEvent(topic, "v_1", 2 * round),
        buildEvent(topic, `another_${round}`, 0),
        buildEvent(topic, "v_1", 2 * round + 1),
      ]);
      for (const group of [0, 1, 2]) {
        if ((round + group) % (group + 1) !== 0) continue;
        const position = { topic, partition, offset: offsets[group] ?? 0n };
        const [batch] = await read([position], 1 + ((round + group) % 5));
        seen[group]?.push(...(batch?.events ?? []));
        offsets[group] = batch?.next ?? -1n;
      }
    }
    const all = (await readAll(db, topic)).filter((event) => event.partition === partition);
    for (const group of seen) {
      expect(group.length).toBeGreaterThan(10);
      expect(group).toEqual(all.slice(0, group.length));
    }
  });

  test("shares one statement between groups that read at the same time", async () => {
    const topic = newTopic();
    const { read } = createLogReader(db);
    await read(everyPartition(topic), 1);
    await appendToLog(db, buildEvents(topic, "v_1", 5));
    const all = await readAll(db, topic);
    const query = vi.spyOn(db, "query");
    const found = await Promise.all([
      read(everyPartition(topic), 10),
      read(everyPartition(topic), 3),
      read(everyPartition(topic), 10),
    ]);
    expect(query).toHaveBeenCalledTimes(1);
    query.mockRestore();
    expect(found.map(eventsOf)).toEqual([all, all.slice(0, 3), all]);
    // A partition without events continues after those of the others.
    expect(new Set(found[0]?.map(({ next }) => next))).toEqual(new Set([5n]));
    const behind = everyPartition(topic).map((position) => ({ ...position, offset: 2n }));
    expect(eventsOf(await read(behind, 10))).toEqual(all.slice(2));
  });

  test("reads a backlog once for the partitions of several groups", async () => {
    const topic = newTopic();
    for (let nth = 0; nth < 40; nth += 1) {
      await appendToLog(
        db,
        [`v_${nth % 7}`, `v_${nth % 5}`].map((key) => buildEvent(topic, key, nth)),
      );
    }
    const partitions = Map.groupBy(await readAll(db, topic), ({ partition }) => partition);
    const { read } = createLogReader(db);
    await read(everyPartition(topic), 1);
    const query = vi.spyOn(db, "query");
    for (const limit of [2, 3, 50]) {
      for (const [partition, events] of partitions) {
        const found: DeliveredEvent[] = [];
        for (let offset = 0n; found.length < events.length;) {
          const [batch] = await read([{ topic, partition, offset }], limit);
          found.push(...(batch?.events ?? []));
          offset = batch?.next ?? 0n;
        }
        expect(found).toEqual(events);
      }
    }
    expect(query).not.toHaveBeenCalled();
    query.mockRestore();
  });

  test("reads several topics in one statement", async () => {
    const topics = [newTopic(), newTopic(), newTopic()];
    const { read } = createLogReader(db);
    await Promise.all(topics.map((topic) => read(everyPartition(topic), 10)));
    for (const topic of topics) await appendToLog(db, buildEvents(topic, "v_1", 2));
    const query = vi.spyOn(db, "query");
    const found = await Promise.all(topics.map((topic) => read(everyPartition(topic), 10)));
    expect(query).toHaveBeenCalledTimes(1);
    query.mockRestore();
    expect(found.map((batches) => eventsOf(batches).map(({ topic }) => topic))).toEqual(
      topics.map((topic) => [topic, topic]),
    );
  });

  test("fails only the readers of a topic with a batch that cannot be decoded", async () => {
    const [broken, intact] = [newTopic(), newTopic()];
    const { read } = createLogReader(db);
    await appendToLog(db, [...buildEvents(broken, "v_1", 2), ...buildEvents(intact, "v_1", 3)]);
    await db.query("update bus_batch set events = '\\x99010203' where topic = $1", [broken]);
    const [failed, found] = await Promise.allSettled(
      [broken, intact].map((topic) => read(everyPartition(topic), 10)),
    );
    await db.query("delete from bus_batch where topic = $1", [broken]);
    expect(failed?.status).toBe("rejected");
    expect(found?.status === "fulfilled" && eventsOf(found.value)).toHaveLength(3);
  });

  test("finds the newest events for a reader beside one that is far behind", async () => {
    const topic = newTopic();
    const batches = 230;
    for (let nth = 0; nth < batches; nth += 1)
      await appendToLog(db, [buildEvent(topic, "v_1", nth)]);
    const { read } = createLogReader(db);
    const newest = everyPartition(topic).map((position) => ({
      ...position,
      offset: BigInt(batches - 1),
    }));
    const [behind, ahead] = await Promise.all([
      read(everyPartition(topic), batches),
      read(newest, 10),
    ]);
    expect(eventsOf(ahead).map(({ offset }) => offset)).toEqual([BigInt(batches - 1)]);
    expect(eventsOf(behind)[0]?.offset).toBe(0n);
  });

  test("reads again after a publication", async () => {
    const topic = newTopic();
    const { read, outdate } = createLogReader(db);
    await read(everyPartition(topic), 10);
    const query = vi.spyOn(db, "query");
    const before = read(everyPartition(topic), 10);
    await vi.waitFor(() => expect(query).toHaveBeenCalledTimes(1));
    outdate();
    const after = read(everyPartition(topic), 10);
    const joined = read(everyPartition(topic), 10);
    const found = await Promise.all([before, after, joined]);
    expect(query).toHaveBeenCalledTimes(2);
    query.mockRestore();
    expect(found.map(eventsOf)).toEqual([[], [], []]);
  });

  test("shows nothing beyond an append in progress", async () => {
    const topic = newTopic();
    let second: Promise<void> | undefined;
    await db.transaction(async (tx) => {
      await appendToLog(tx, [buildEvent(topic, "v_1", 1)]);
      second = appendToLog(db, [buildEvent(topic, "v_1", 2)]);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await readAll(db, topic)).toEqual([]);
    });
    await second;
    expect(idsOf(await readAll(db, topic))).toEqual(["v_1-1", "v_1-2"]);
  });

  test("reads at most some megabytes into memory, and always at least one event", async () => {
    const topic = newTopic();
    const large = buildEvents(topic, "v_1", 8).map((event) => ({
      ...event,
      payload: new Uint8Array(900_000),
    }));
    await appendToLog(db, large);
    const first = (await readBatches(db, new Map([[topic, 0n]]))).get(topic) ?? [];
    expect(first).toHaveLength(5);
    const rest = (await readBatches(db, new Map([[topic, first.at(-1)!.end]]))).get(topic) ?? [];
    expect(rest).toHaveLength(3);
    expect(idsOf(await readAll(db, topic))).toEqual(idsOf(large));
  });

  test("stores events as they are, small batches plain and others compressed", () => {
    const { topic: _topic, ...event } = buildEvent("", "v_1", 1);
    const { type: _type, ...untyped } = event;
    const both = [
      { ...event, headers: { traceparent: "00-ä" }, payload: Buffer.from([0, 255, 7]) },
      { ...untyped, payload: Buffer.alloc(0) },
    ];
    for (const copies of [1, 200]) {
      const events = Array.from({ length: copies }, () => both).flat();
      const { bytes, size } = encodeBatch(events);
      expect(bytes[0]).toBe(copies === 1 ? 0 : 1);
      expect(bytes.length < size).toBe(copies > 1);
      expect(decodeBatch(bytes)).toEqual(events);
    }
    expect(() => decodeBatch(Uint8Array.from([9, 0]))).toThrow("unknown form 9");
  });
});

describe("a day of the log", () => {
  const topic = newTopic();
  const DAY = "2026-01-05";
  const maintain = (retention = RETENTION) =>
    maintainPartitions({ url, schema: EVENTS_SCHEMA, tables: [logTable(retention)] });
  const remaining = async () => idsOf(await readAll(db, topic));

  beforeEach(async () => {
    await db.query("delete from bus_batch");
    await db.query("delete from bus_topic");
    await db.query("delete from bus_offset");
    await maintain();
    await appendToLog(db, buildEvents(topic, "v_1", 20));
    await db.query("update bus_batch set published_at = $1 where topic = $2", [DAY, topic]);
    await appendToLog(db, buildEvents(topic, "v_2", 10));
  });

  test("is deleted when it has expired and all groups have handled it", async () => {
    await createOffsets(db, "readers", [topic]);
    await db.query("update bus_offset set log_offset = 20");
    expect((await maintain()).deleted).toBe(1);
    expect(await remaining()).toEqual(idsOf(buildEvents(topic, "v_2", 10)));
    // A reader that fell behind continues with the oldest remaining event.
    const { read } = createLogReader(db);
    expect(idsOf(eventsOf(await read(everyPartition(topic), 5)))).toHaveLength(5);
  });

  test("is retained for a group that has not handled it, but not for ever", async () => {
    await createOffsets(db, "readers", [topic]);
    await createOffsets(db, "stragglers", [topic]);
    await db.query("update bus_offset set log_offset = 30 where consumer_group = 'readers'");
    await db.query("update bus_offset set log_offset = 19 where consumer_group = 'stragglers'");
    const always = { ...RETENTION, keepUnhandledMs: 100_000 * 24 * HOUR_MS };
    expect((await maintain(always)).deleted).toBe(0);
    expect(await remaining()).toHaveLength(30);
    expect((await maintain()).deleted).toBe(1);
    expect(await remaining()).toHaveLength(10);
  });
});

test("an upgrade delivers the unhandled events of the log of rows before all others", async () => {
  await using made = new AsyncDisposableStack();
  const database = made.use(await emptyDatabase());
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-events-"));
  made.defer(() => rm(folder, { recursive: true }));
  await cp(path.join(EVENTS_MIGRATIONS, "0001_events.sql"), path.join(folder, "0001_events.sql"));
  const service = { url: database.url, schema: EVENTS_SCHEMA, role: EVENTS_ROLE };
  await migrate({ ...service, folder });
  const own = createDatabase({ ...service, poolSize: 3, onError: () => {} });
  made.defer(() => own.close());
  const topic = newTopic();
  const publishBefore = (partition: number, offset: number) =>
    own.query(
      `insert into bus_log (topic, partition, log_offset, id, project_id, key, payload, occurred_at)
       values ($1, $2, $3, $4, 'proj_1', 'key', 'x', now())`,
      [topic, partition, offset, `${partition}-${offset}`],
    );
  await createOffsets(own, "readers", [topic]);
  for (const partition of [0, 1]) {
    for (let offset = 0; offset < 3; offset += 1) await publishBefore(partition, offset);
    await own.query(
      "insert into bus_partition (topic, partition, next_offset) values ($1, $2, 3)",
      [topic, partition],
    );
  }
  await own.query("update bus_offset set log_offset = 2 where partition = 1");

  await migrate({ ...service, folder: EVENTS_MIGRATIONS });
  await expect(publishBefore(0, 3)).rejects.toThrow("bus_log_closed");
  const events = Array.from({ length: 40 }, (_, index) => buildEvent(topic, `v_${index}`, 1));
  await appendToLog(own, events);
  const { read } = createLogReader(own);
  const { rows } = await own.query<{ partition: number; log_offset: bigint }>(
    "select partition, log_offset from bus_offset order by partition",
  );
  let positions = rows.map((row) => ({ topic, partition: row.partition, offset: row.log_offset }));
  const seen: DeliveredEvent[] = [];
  const lags: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    lags.push(
      (await measureLag(own, "readers")).reduce((sum, { behind }) => sum + Number(behind), 0),
    );
    const batches = await read(positions, 100);
    seen.push(...eventsOf(batches));
    positions = batches.map(({ topic: name, partition, next }) => ({
      topic: name,
      partition,
      offset: next,
    }));
    for (const { partition, offset } of positions) {
      await own.query("update bus_offset set log_offset = $2 where partition = $1", [
        partition,
        offset,
      ]);
    }
  }
  expect(lags[0]).toBe(4 + events.length);
  expect(lags.at(-1)).toBe(0);
  expect(idsOf(seen.slice(0, 4)).toSorted()).toEqual(["0-0", "0-1", "0-2", "1-2"]);
  expect(idsOf(seen.slice(4)).toSorted()).toEqual(idsOf(events).toSorted());
  const policy = { keepMs: 0, keepUnreadMs: 0, chunk: 4 };
  expect(await trimRowLog(own, policy)).toBe(6);
});
