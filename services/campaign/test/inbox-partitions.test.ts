import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { type DeliveredEvent, inboxHandler, inboxTable } from "@scrip/events";
import { createDatabase, type Database, maintainPartitions, migrate } from "@scrip/postgres";
import { DEFAULT_RETENTION } from "@scrip/rpc";
import { emptyDatabase } from "@scrip/testing";
import { expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";

const PARTITIONS_SINCE = "0011";

/** The migrations of the release before. */
async function earlierMigrations(parts: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-campaign-"));
  parts.defer(() => rm(folder, { recursive: true }));
  const names = await readdir(MIGRATIONS);
  for (const name of names.filter((one) => one < PARTITIONS_SINCE)) {
    await cp(path.join(MIGRATIONS, name), path.join(folder, name));
  }
  return folder;
}

async function openEmpty(parts: AsyncDisposableStack) {
  const { url } = parts.use(await emptyDatabase());
  const service = { url, schema: SCHEMA, role: ROLE };
  const open = () => {
    const db = createDatabase({ ...service, poolSize: 2, onError: () => {} });
    parts.defer(() => db.close());
    return db;
  };
  return { service, open };
}

const maintain = (url: string, keepMs = DEFAULT_RETENTION.inboxMs) =>
  maintainPartitions({ url, schema: SCHEMA, tables: [inboxTable(keepMs)] });

/** Handles events with these ids; returns those that were new. */
async function handle(db: Database, ids: readonly string[]): Promise<readonly string[]> {
  const applied: string[] = [];
  const handler = inboxHandler(db, {
    consumer: "test",
    read: (event) => event.id,
    work: async (_tx, items) => void applied.push(...items),
  });
  const batch = ids.map((id) => ({ projectId: "proj_1", id }) as DeliveredEvent);
  await handler(batch, {} as never);
  return applied;
}

test("an upgrade retains the ids of handled events, also while both releases handle events", async () => {
  await using parts = new AsyncDisposableStack();
  const { service, open } = await openEmpty(parts);
  await migrate({ ...service, folder: await earlierMigrations(parts) });
  const db = open();
  const handleAsBefore = (id: string) =>
    db.query({
      name: "handle-as-before",
      text: `insert into inbox (project_id, consumer, event_id) values ('proj_1', 'test', $1)
                 on conflict do nothing`,
      values: [id],
    });
  await handleAsBefore("young");
  await handleAsBefore("old");
  await db.query("update inbox set seen_at = now() - interval '14 days' where event_id = 'old'");

  await migrate({ ...service, folder: MIGRATIONS });
  expect((await maintain(service.url)).dropped).toEqual([]);
  // A connection of the release before, with its prepared statement.
  expect((await handleAsBefore("young")).rowCount).toBe(0);
  expect((await handleAsBefore("between")).rowCount).toBe(1);
  expect(await handle(db, ["new", "young", "between", "old", "new"])).toEqual(["new"]);
  expect((await handleAsBefore("new")).rowCount).toBe(0);
});

test("an event is handled once by several processes, also in a later partition, until its id is dropped", async () => {
  await using parts = new AsyncDisposableStack();
  const { service, open } = await openEmpty(parts);
  await migrate({ ...service, folder: MIGRATIONS });
  await maintain(service.url);
  const processes = [open(), open(), open()];
  const ids = Array.from({ length: 40 }, (_, nth) => `evt_${nth}`);
  const applied = await Promise.all(processes.map((db) => handle(db, ids)));
  expect(applied.flat().toSorted()).toEqual(ids.toSorted());

  const [db] = processes as [Database];
  const earlier = Array.from({ length: 39 }, (_, nth) => `evt_earlier_${nth}`);
  await db.query(
    `insert into inbox (project_id, consumer, event_id, seen_at)
     select 'proj_1', 'test', id, now() - interval '10 days' from unnest($1::text[]) as id`,
    [earlier],
  );
  expect(await handle(db, [...ids, ...earlier, "evt_later"])).toEqual(["evt_later"]);
  expect((await maintain(service.url, 9 * 24 * 3_600_000)).deleted).toBe(39);
  const left = await db.query<{ id: string }>("select distinct event_id as id from inbox");
  expect(left.rows.map(({ id }) => id).toSorted()).toEqual([...ids, "evt_later"].toSorted());
});
