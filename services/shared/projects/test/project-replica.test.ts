import path from "node:path";

import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createPgEventBus, type EventEnvelope, originHeaders } from "@scrip/events";
import {
  type ProjectChanged,
  ProjectChangedSchema,
} from "@scrip/proto/scrip/events/v1/projects_pb";
import type { ProjectQuery } from "@scrip/rpc";
import { createMetrics } from "@scrip/telemetry";
import { testDatabase } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import { afterProjects, PROJECTS_TOPIC, startProjectReplica } from "../src/index.ts";

const parts = new AsyncDisposableStack();
afterAll(() => parts.disposeAsync());
const db = parts.use(
  await testDatabase({
    schema: "shop",
    role: "scrip_test_shop",
    folder: path.join(import.meta.dirname, "fixture"),
  }),
);
const onError = (error: Error): void => {
  throw error;
};
const openBus = async () => {
  const bus = await createPgEventBus({ url: db.url, poolSize: 2, onError });
  parts.defer(() => bus.close(1_000));
  return bus;
};
const bus = await openBus();
const metrics = createMetrics({ withProcess: false });
const late: string[] = [];
const onLate = ({ message }: Error): unknown => late.push(message);
// Of another process: its publications reach the replica by polls only.
const remoteBus = await openBus();
const replica = parts.use(
  await startProjectReplica({ db, bus, group: "shop-projects", metrics, onError: onLate }),
);

let lastId = 0;
const nextId = (): string => String((lastId += 1));

type Change = Partial<Omit<ProjectChanged, "$typeName" | "$unknown">>;

const changed = (projectId: string, version: bigint, change: Change = {}): EventEnvelope => ({
  id: `event_${nextId()}`,
  topic: PROJECTS_TOPIC,
  key: projectId,
  projectId,
  type: ProjectChangedSchema.typeName,
  payload: toBinary(
    ProjectChangedSchema,
    create(ProjectChangedSchema, {
      projectId,
      version,
      timeZone: "UTC",
      firstWeekday: 1,
      caseSensitiveCodes: true,
      ...change,
    }),
  ),
  headers: {},
  occurredAt: new Date(),
});

const find = (projectId: string, query: Partial<ProjectQuery> = {}) =>
  Promise.resolve(
    replica.findProject({ projectId, version: undefined, deadline: Date.now() + 8_000, ...query }),
  );

describe("the replica of projects", () => {
  test("keeps the newest version when events are repeated or out of order", async () => {
    const id = `proj_${nextId()}`;
    const [first, second, third] = [
      changed(id, 1n, { timeZone: "Asia/Tokyo" }),
      changed(id, 2n, { timeZone: "Europe/Paris", sandboxNow: timestampFromMs(5_000) }),
      changed(id, 3n, { deleted: true }),
    ] as const;
    await bus.publish([second]);
    expect(await find(id)).toMatchObject({
      project: { id, version: 2n, timeZone: "Europe/Paris" },
      sandboxNow: 5_000,
      deleted: false,
    });
    const other = `proj_${nextId()}`;
    await bus.publish([first, second, first, changed(other, 1n)]);
    await find(other, { version: 1n });
    expect(await find(id)).toMatchObject({ project: { timeZone: "Europe/Paris" } });

    await bus.publish([third, second, first]);
    expect(await find(id, { version: 3n })).toMatchObject({ deleted: true });
    const { rows } = await db.query("select version, deleted from project where project_id = $1", [
      id,
    ]);
    expect(rows).toEqual([{ version: 3n, deleted: true }]);
  });

  test("waits for a project and for a version that another process has just published", async () => {
    const id = `proj_${nextId()}`;
    for (const version of [1n, 2n, 3n]) {
      const found = find(id, { version });
      await remoteBus.publish([changed(id, version, { firstWeekday: Number(version) })]);
      expect(await found).toMatchObject({ project: { version, firstWeekday: Number(version) } });
    }
  });

  test("shares one wait of an unknown project, and does not wait again for a while", async () => {
    const id = `proj_${nextId()}`;
    await find(id);
    let queries = 0;
    const counted: typeof db.query = (...args) => {
      queries += 1;
      return db.query(...args);
    };
    const own = await startProjectReplica({
      db: { ...db, query: counted },
      bus,
      group: "counting",
      metrics,
      onError: onLate,
    });
    const ask = async () =>
      own.findProject({ projectId: id, version: undefined, deadline: Infinity });
    expect(await Promise.all(Array.from({ length: 200 }, ask))).toEqual(Array(200).fill(undefined));
    // At most one query per pause of the wait.
    expect(queries).toBeLessThan(100);
    const before = queries;
    for (let i = 0; i < 1_000; i += 1) await ask();
    expect(queries - before).toBeLessThan(10);
    expect(late.filter((line) => line.startsWith("counting"))).toEqual([
      `counting has waited in vain for ${id}`,
    ]);
    await own[Symbol.asyncDispose]();
  });

  test("serves the version it has when a newer one does not arrive", async () => {
    const id = `proj_${nextId()}`;
    await bus.publish([changed(id, 1n)]);
    const before = late.length;
    expect(await find(id, { version: 9n })).toMatchObject({ project: { version: 1n } });
    expect(late.slice(before)).toEqual([`shop-projects has waited in vain for ${id} at version 9`]);
    expect(await metrics.text()).toContain(`late_projects_total ${late.length}`);
  });

  test("withholds the events of deleted projects from consumers, and no others", async () => {
    const [live, deleted, unknown] = [1, 2, 3].map(() => `proj_${nextId()}`) as [
      string,
      string,
      string,
    ];
    await bus.publish([changed(live, 1n), changed(deleted, 1n, { deleted: true })]);
    await Promise.all([find(live), find(deleted)]);
    const received: string[] = [];
    const subscription = await replica.bus.subscribe({
      group: "orders",
      topics: ["orders"],
      handler: async (batch) => {
        received.push(...batch.map(({ projectId }) => projectId));
      },
    });
    const order = (id: string) => ({ ...changed(id, 1n), topic: "orders" });
    await replica.bus.publish([order(deleted), order(live), order(deleted), order(unknown)]);
    await expect.poll(() => received.toSorted()).toEqual([live, unknown].toSorted());
    await subscription.close(1_000);
  });

  test("delivers events after the versions that their requests have seen", async () => {
    const id = `proj_${nextId()}`;
    const versions: unknown[] = [];
    const handler = async () => {
      versions.push((await find(id))?.project.version);
    };
    const delivery = { group: "bills", topic: "bills", signal: new AbortController().signal };
    const billed = (version: bigint | undefined) => {
      const origin = { caller: { side: "server", id: "app" }, project: { version } } as const;
      const headers = originHeaders(origin);
      return { ...changed(id, 1n), topic: "bills", headers, partition: 0, offset: 0n };
    };
    const consume = afterProjects(replica.findProject, handler);
    const handled = consume([billed(3n), billed(undefined), billed(2n)], delivery);
    for (const version of [1n, 2n, 3n]) {
      await bus.publish([changed(id, version)]);
      await find(id, { version });
    }
    await handled;
    expect(versions).toEqual([3n]);
  });
});
