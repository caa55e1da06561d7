import { testDatabase } from "@scrip/testing";
import { afterAll, expect, test, vi } from "vitest";

import { PARTITIONS } from "../src/partition.ts";
import { EVENTS_MIGRATIONS, EVENTS_ROLE, EVENTS_SCHEMA } from "../src/pg/events-schema.ts";
import { createGroupStore, createOffsets, leaveGroup } from "../src/pg/group.ts";
import { newTopic } from "./conformance/broker.ts";

const db = await testDatabase({
  schema: EVENTS_SCHEMA,
  role: EVENTS_ROLE,
  folder: EVENTS_MIGRATIONS,
  poolSize: 10,
});
afterAll(() => db[Symbol.asyncDispose]());

test("stores the leases of all members of a process in one statement each", async () => {
  const [first = "", second = ""] = [newTopic(), newTopic()].toSorted();
  await createOffsets(db, "first", [first]);
  await createOffsets(db, "second", [first, second]);
  const store = createGroupStore(db);
  const ofFirst = { group: "first", member: "one" };
  const ofSecond = { group: "second", member: "one" };
  const rival = { group: "second", member: "rival" };
  const leaseMs = 60_000;
  expect((await store.heartbeat({ ...rival, topics: [second], leaseMs })).others).toEqual([]);
  await store.claim({ ...rival, requested: [{ topic: second, partition: 1 }], leaseMs });

  const query = vi.spyOn(db, "query");
  const beats = await Promise.all([
    store.heartbeat({ ...ofFirst, topics: [first], leaseMs }),
    store.heartbeat({ ...ofSecond, topics: [first, second], leaseMs }),
  ]);
  expect(beats.map(({ others }) => others)).toEqual([[], [{ member: "rival", topics: [second] }]]);
  const ofTopic = (topic: string) => [0, 1].map((partition) => ({ topic, partition }));
  const [inFirst, inSecond] = await Promise.all([
    store.claim({ ...ofFirst, requested: ofTopic(first), leaseMs }),
    store.claim({ ...ofSecond, requested: [...ofTopic(first), ...ofTopic(second)], leaseMs }),
  ]);
  const position = { offset: 0n, epoch: 1n };
  expect(inFirst).toEqual(ofTopic(first).map((id) => ({ ...id, ...position })));
  expect(inSecond).toEqual(
    [...ofTopic(first), { topic: second, partition: 0 }].map((id) => ({ ...id, ...position })),
  );

  const lost = { topic: second, partition: 1, offset: 5n, epoch: 1n };
  const committed = await Promise.all([
    store.commit({ ...ofFirst, done: inFirst.map((claim) => ({ ...claim, offset: 3n })) }),
    store.commit({ ...ofSecond, done: [...inSecond, lost] }),
  ]);
  expect(query).toHaveBeenCalledTimes(3);
  query.mockRestore();
  expect(committed).toEqual([ofTopic(first), [...ofTopic(first), { topic: second, partition: 0 }]]);
  const [moved] = await store.claim({ ...ofFirst, requested: ofTopic(first), leaseMs });
  expect(moved).toMatchObject({ offset: 3n, epoch: 1n });
});

test("a locked row stops the claims of its group only", async () => {
  const topic = newTopic();
  const groups = ["locked", "free"];
  for (const group of groups) await createOffsets(db, group, [topic]);
  const store = createGroupStore(db);
  const claim = (group: string) =>
    store.claim({ group, member: "one", requested: [{ topic, partition: 0 }], leaseMs: 60_000 });
  const [locked, free] = await db.transaction(async (tx) => {
    await tx.query("select from bus_offset where consumer_group = 'locked' for update");
    return Promise.allSettled(groups.map(claim));
  });
  expect(locked?.status).toBe("rejected");
  expect(free?.status === "fulfilled" && free.value).toHaveLength(1);
});

test("commits of a member that lost its leases and claims of its successor do not deadlock", async () => {
  const topic = newTopic();
  const groups = Array.from({ length: 40 }, (_, nth) => `${topic}-${String(nth).padStart(2, "0")}`);
  for (const group of groups) await createOffsets(db, group, [topic]);
  const requested = Array.from({ length: PARTITIONS }, (_, partition) => ({ topic, partition }));
  for (let round = 0; round < 6; round += 1) {
    const [before, after] = [createGroupStore(db), createGroupStore(db)];
    await db.query("update bus_offset set owner = null, expires_at = null where topic = $1", [
      topic,
    ]);
    const claims = await Promise.all(
      groups.map((group) => before.claim({ group, member: "before", requested, leaseMs: 60_000 })),
    );
    await db.query("update bus_offset set expires_at = now() where topic = $1", [topic]);
    const commits = groups
      .map((group, nth) => ({ group, member: "before", done: claims[nth] ?? [] }))
      .toReversed();
    const outcomes = await Promise.allSettled([
      ...commits.map((commit) => before.commit(commit)),
      ...groups.map((group) => after.claim({ group, member: "after", requested, leaseMs: 60_000 })),
    ]);
    expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
  }
});

test("records a member again, and forgets the others of its group that are long gone", async () => {
  const store = createGroupStore(db);
  const group = newTopic();
  const member = (name: string) => ({ group, member: name, topics: ["t"], leaseMs: 60_000 });
  await store.heartbeat(member("gone"));
  await db.query(
    "update bus_member set expires_at = now() - interval '2 minutes' where consumer_group = $1",
    [group],
  );
  const restarted = createGroupStore(db);
  for (let beat = 0; beat < 2; beat += 1) {
    expect((await restarted.heartbeat(member("alive"))).others).toEqual([]);
  }
  const { rows } = await db.query("select member from bus_member where consumer_group = $1", [
    group,
  ]);
  expect(rows).toEqual([{ member: "alive" }]);
});

test("takes over the partitions of a member whose heartbeat expired, before their rows do", async () => {
  const group = newTopic();
  const requested = [{ topic: group, partition: 3 }];
  await createOffsets(db, group, [group]);
  const store = createGroupStore(db);
  const beat = (member: string, leaseMs: number) =>
    store.heartbeat({ group, member, topics: [group], leaseMs });
  const claim = (member: string) => store.claim({ group, member, requested, leaseMs: 60_000 });
  expect(await beat("one", 60_000)).toEqual({ others: [], inTime: false });
  expect(await claim("one")).toHaveLength(1);
  expect(await beat("one", 200)).toMatchObject({ inTime: true });
  expect(await claim("two")).toEqual([]);
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(await claim("two")).toMatchObject([{ epoch: 2n }]);
  expect(await beat("one", 60_000)).toMatchObject({ inTime: false });
  expect(await claim("one")).toEqual([]);
});

test("leaves the partitions of unfinished handlers to a member that left, for one lease", async () => {
  const group = newTopic();
  const requested = [{ topic: group, partition: 3 }];
  await createOffsets(db, group, [group]);
  const store = createGroupStore(db);
  const claim = (member: string) => store.claim({ group, member, requested, leaseMs: 60_000 });
  await store.heartbeat({ group, member: "one", topics: [group], leaseMs: 60_000 });
  await claim("one");
  await leaveGroup(db, { group, member: "one", leaseMs: 200 });
  expect(await claim("two")).toEqual([]);
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(await claim("two")).toMatchObject([{ epoch: 2n }]);
});

test("does not let a member whose lease expired move the offset of its successor", async () => {
  const topic = newTopic();
  await createOffsets(db, "group", [topic]);
  const store = createGroupStore(db);
  const requested = [{ topic, partition: 3 }];
  const one = { group: "group", member: "one" };
  const two = { group: "group", member: "two" };
  const [stale] = await store.claim({ ...one, requested, leaseMs: 1 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  const [current] = await store.claim({ ...two, requested, leaseMs: 60_000 });
  expect(current?.epoch).toBe((stale?.epoch ?? 0n) + 1n);

  expect(await store.commit({ ...one, done: [{ ...stale!, offset: 9n }] })).toEqual([]);
  expect(await store.claim({ ...one, requested, leaseMs: 60_000 })).toEqual([]);
  expect(await store.commit({ ...two, done: [{ ...current!, offset: 7n }] })).toEqual(requested);
  const [again] = await store.claim({ ...two, requested, leaseMs: 60_000 });
  expect(again).toEqual({ topic, partition: 3, offset: 7n, epoch: current!.epoch });
});
