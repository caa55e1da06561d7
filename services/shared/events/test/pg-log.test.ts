import type { DeliveredEvent } from "@scrip/events";
import { createDatabase, type Database, migrate } from "@scrip/postgres";
import { emptyDatabase } from "@scrip/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";

import { PARTITIONS } from "../src/partition.ts";
import { claimPartitions, commitOffsets, createOffsets } from "../src/pg/group.ts";
import { createLogReader } from "../src/pg/log-reader.ts";
import { trimLog } from "../src/pg/log-trim.ts";
import { appendToLog, readLog } from "../src/pg/log.ts";
import { EVENTS_MIGRATIONS, EVENTS_ROLE, EVENTS_SCHEMA } from "../src/pg/pg-event-bus.ts";
import { buildEvent, buildEvents, newTopic, idsOf } from "./conformance/broker.ts";

const HOUR_MS = 3_600_000;
const TRIM = { keepMs: 72 * HOUR_MS, keepUnreadMs: 14 * 24 * HOUR_MS, chunk: 7 };

const everyPartition = (topic: string) =>
  Array.from({ length: PARTITIONS }, (_, partition) => ({ topic, partition, offset: 0n }));

let parts: AsyncDisposableStack;
let db: Database;

beforeAll(async () => {
  await using made = new AsyncDisposableStack();
  const { url } = made.use(await emptyDatabase());
  const events = { url, schema: EVENTS_SCHEMA, role: EVENTS_ROLE };
  await migrate({ ...events, folder: EVENTS_MIGRATIONS });
  db = createDatabase({ ...events, poolSize: 10, onError: () => {} });
  made.defer(() => db.close());
  parts = made.move();
});
afterAll(() => parts.disposeAsync());

describe("the log", () => {
  test("assigns offsets without gaps in each partition, despite failures and concurrent writers", async () => {
    const topic = newTopic();
    const keys = Array.from({ length: 20 }, (_, index) => `v_${index}`);
    const write = (writer: number, round: number): Promise<void> =>
      db.transaction(async (tx) => {
        await appendToLog(
          tx,
          // Each writer in an order of its own, so that unsorted locks would deadlock.
          (writer % 2 === 0 ? keys : keys.toReversed()).map((key) =>
            buildEvent(topic, key, writer * 100 + round),
          ),
        );
        if (round % 3 === 0) throw new Error("rolled back");
      });
    const writes = Array.from({ length: 8 }, async (_, writer) => {
      for (let round = 0; round < 12; round += 1) await write(writer, round).catch(() => {});
    });
    await Promise.all(writes);

    const { rows } = await db.query<{ gapless: boolean; total: bigint }>(
      `select bool_and(entries = next_offset and lowest = 0 and highest = next_offset - 1) as gapless,
              sum(entries)::bigint as total
         from bus_partition
         join (select topic, partition, count(*) as entries, min(log_offset) as lowest,
                      max(log_offset) as highest
                 from bus_log group by topic, partition) as log using (topic, partition)
        where topic = $1`,
      [topic],
    );
    expect(rows).toEqual([{ gapless: true, total: BigInt(8 * 8 * keys.length) }]);
  });

  test("returns all entries to groups at different positions", async () => {
    const topic = newTopic();
    const { read } = createLogReader(db);
    const seen: DeliveredEvent[][] = [[], [], []];
    const offsets = [0n, 0n, 0n];
    let partition = 0;
    for (let round = 0; round < 30; round += 1) {
      await appendToLog(db, [
        buildEvent(topic, "v_1", 2 * round),
        buildEvent(topic, "v_1", 2 * round + 1),
      ]);
      const [[first]] = (await readLog(db, everyPartition(topic), 1)) as [[DeliveredEvent]];
      partition = first.partition;
      for (const group of [0, 1, 2]) {
        if ((round + group) % (group + 1) !== 0) continue;
        const position = { topic, partition, offset: offsets[group] ?? 0n };
        const batch = (await read([position], 1 + ((round + group) % 5))).flat();
        seen[group]?.push(...batch);
        offsets[group] = (batch.at(-1)?.offset ?? position.offset - 1n) + 1n;
      }
    }
    const all = (await readLog(db, [{ topic, partition, offset: 0n }], 100)).flat();
    expect(all).toHaveLength(60);
    for (const group of seen) {
      expect(group.length).toBeGreaterThan(10);
      expect(group).toEqual(all.slice(0, group.length));
    }
  });

  test("shares one statement between groups that read at the same time", async () => {
    const topic = newTopic();
    await appendToLog(db, buildEvents(topic, "v_1", 5));
    const [all] = await readLog(db, everyPartition(topic), 10);
    const { read } = createLogReader(db);
    const query = vi.spyOn(db, "query");
    const found = await Promise.all([
      read(everyPartition(topic), 10),
      read(everyPartition(topic), 3),
      read(everyPartition(topic), 10),
    ]);
    expect(query).toHaveBeenCalledTimes(1);
    query.mockRestore();
    expect(found).toEqual([[all], [all?.slice(0, 3)], [all]]);
    const behind = everyPartition(topic).map((position) => ({ ...position, offset: 2n }));
    expect(await read(behind, 10)).toEqual([all?.slice(2)]);
  });

  test("reads again after a publication", async () => {
    const topic = newTopic();
    const { read, outdate } = createLogReader(db);
    const query = vi.spyOn(db, "query");
    const before = read(everyPartition(topic), 10);
    outdate();
    const after = read(everyPartition(topic), 10);
    const joined = read(everyPartition(topic), 10);
    expect(query).toHaveBeenCalledTimes(2);
    query.mockRestore();
    expect(await Promise.all([before, after, joined])).toEqual([[], [], []]);
  });

  test("shows nothing beyond an append in progress", async () => {
    const topic = newTopic();
    const positions = Array.from({ length: 12 }, (_, partition) => ({
      topic,
      partition,
      offset: 0n,
    }));
    let second: Promise<void> | undefined;
    await db.transaction(async (tx) => {
      await appendToLog(tx, [buildEvent(topic, "v_1", 1)]);
      second = appendToLog(db, [buildEvent(topic, "v_1", 2)]);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await readLog(db, positions, 10)).toEqual([]);
    });
    await second;
    const [batch] = await readLog(db, positions, 10);
    expect(idsOf(batch ?? [])).toEqual(["v_1-1", "v_1-2"]);
  });

  test("reads at most some megabytes into memory, and always at least one event", async () => {
    const topic = newTopic();
    const large = buildEvents(topic, "v_1", 8).map((event) => ({
      ...event,
      payload: new Uint8Array(900_000),
    }));
    await appendToLog(db, large);
    const { rows } = await db.query<{ partition: number }>(
      "select partition from bus_partition where topic = $1",
      [topic],
    );
    const partition = rows[0]?.partition ?? -1;
    const [first] = await readLog(db, [{ topic, partition, offset: 0n }], 500);
    expect(first).toHaveLength(5);
    const [rest] = await readLog(db, [{ topic, partition, offset: 5n }], 500);
    expect(idsOf(rest ?? [])).toEqual(["v_1-6", "v_1-7", "v_1-8"]);
  });
});

describe("trimming", () => {
  const topic = newTopic();
  const partitionOfKey = async (): Promise<number> => {
    const { rows } = await db.query<{ partition: number }>(
      "select partition from bus_partition where topic = $1",
      [topic],
    );
    return rows[0]?.partition ?? -1;
  };
  const remaining = async (): Promise<string[]> => {
    const { rows } = await db.query<{ id: string }>(
      "select id from bus_log where topic = $1 order by log_offset",
      [topic],
    );
    return idsOf(rows);
  };
  const age = (count: number, hours: number): Promise<unknown> =>
    db.query(
      `update bus_log set published_at = clock_timestamp() - $3 * interval '1 hour'
        where topic = $1 and log_offset < $2`,
      [topic, count, hours],
    );

  beforeEach(async () => {
    await db.query("delete from bus_log");
    await db.query("delete from bus_partition");
    await db.query("delete from bus_offset");
    await appendToLog(db, buildEvents(topic, "v_1", 30));
  });

  test("deletes entries older than three days that all groups have read, in chunks", async () => {
    await createOffsets(db, "readers", [topic]);
    await db.query("update bus_offset set log_offset = 30");
    await age(20, 73);
    expect(await trimLog(db, TRIM)).toBe(20);
    expect(await remaining()).toEqual(idsOf(buildEvents(topic, "v_1", 30)).slice(20));
    const { rows } = await db.query("select first_offset, next_offset from bus_partition");
    expect(rows).toEqual([{ first_offset: 20n, next_offset: 30n }]);
  });

  test("retains unread entries of a group, but not for ever", async () => {
    await createOffsets(db, "readers", [topic]);
    await createOffsets(db, "stragglers", [topic]);
    await db.query("update bus_offset set log_offset = 30 where consumer_group = 'readers'");
    await db.query("update bus_offset set log_offset = 4 where consumer_group = 'stragglers'");
    await age(20, 73);
    expect(await trimLog(db, TRIM)).toBe(4);
    await age(10, 15 * 24);
    expect(await trimLog(db, TRIM)).toBe(6);
    expect(await remaining()).toEqual(idsOf(buildEvents(topic, "v_1", 30)).slice(10));
  });

  test("lets a reader that fell behind continue with the oldest remaining entry", async () => {
    await age(20, 15 * 24);
    await trimLog(db, TRIM);
    const partition = await partitionOfKey();
    const [batch] = await readLog(db, [{ topic, partition, offset: 0n }], 5);
    expect(idsOf(batch ?? [])).toEqual(idsOf(buildEvents(topic, "v_1", 25)).slice(20));
  });
});

test("does not let a member whose lease expired move the offset of its successor", async () => {
  const topic = newTopic();
  await createOffsets(db, "group", [topic]);
  const requested = [{ topic, partition: 3 }];
  const [stale] = await claimPartitions(db, "group", { member: "one", requested, leaseMs: 1 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  const [current] = await claimPartitions(db, "group", {
    member: "two",
    requested,
    leaseMs: 60_000,
  });
  expect(current?.epoch).toBe((stale?.epoch ?? 0n) + 1n);

  expect(await commitOffsets(db, "group", "one", [{ ...stale!, offset: 9n }])).toEqual([]);
  expect(await claimPartitions(db, "group", { member: "one", requested, leaseMs: 60_000 })).toEqual(
    [],
  );
  expect(await commitOffsets(db, "group", "two", [{ ...current!, offset: 7n }])).toEqual(requested);
  const [again] = await claimPartitions(db, "group", { member: "two", requested, leaseMs: 60_000 });
  expect(again).toEqual({ topic, partition: 3, offset: 7n, epoch: current!.epoch });
});
