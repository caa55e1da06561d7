import { type DeliveredEvent, inboxHandler, inboxTable } from "@scrip/events";
import { type Database, maintainPartitions } from "@scrip/postgres";
import { DEFAULT_RETENTION } from "@scrip/rpc";
import { upgradedDatabase } from "@scrip/testing";
import { expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";

/** The first migration that the release before does not have. */
const RELEASE_BEFORE = { schema: SCHEMA, role: ROLE, folder: MIGRATIONS, before: "0011" };

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
  await using database = await upgradedDatabase(RELEASE_BEFORE);
  const db = database.open();
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

  await database.upgrade();
  expect((await maintain(database.url)).dropped).toEqual([]);
  // A connection of the release before, with its prepared statement.
  expect((await handleAsBefore("young")).rowCount).toBe(0);
  expect((await handleAsBefore("between")).rowCount).toBe(1);
  expect(await handle(db, ["new", "young", "between", "old", "new"])).toEqual(["new"]);
  expect((await handleAsBefore("new")).rowCount).toBe(0);
});

test("an event is handled once by several processes, also in a later partition, until its id is dropped", async () => {
  await using database = await upgradedDatabase(RELEASE_BEFORE);
  await database.upgrade();
  await maintain(database.url);
  const processes = [database.open(), database.open(), database.open()];
  const ids = Array.from({ length: 40 }, (_, nth) => `evt_${nth}`);
  const applied = await Promise.all(processes.map((db) => handle(db, ids)));
  expect(applied.flat().toSorted()).toEqual(ids.toSorted());

  const [db] = processes as [Database];
  const earlier = Array.from({ length: 39 }, (_, nth) => `evt_earlier_${nth}`);
  await db.query(
    `insert into inbox (project_id, consumer, event_id, seen_at)
     select 'proj_1', 'test', id, now() - interval '15 days' from unnest($1::text[]) as id`,
    [earlier],
  );
  expect(await handle(db, [...ids, ...earlier, "evt_later"])).toEqual(["evt_later"]);
  // Whole periods of five days are deleted, so ids of 14 days are surely in an expired one.
  expect((await maintain(database.url, 9 * 24 * 3_600_000)).deleted).toBe(39);
  const left = await db.query<{ id: string }>("select distinct event_id as id from inbox");
  expect(left.rows.map(({ id }) => id).toSorted()).toEqual([...ids, "evt_later"].toSorted());
});
