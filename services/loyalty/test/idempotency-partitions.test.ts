import { reserveIds, STORED_REQUEST_TABLE } from "@scrip/idempotency";
import { type Database, maintainPartitions } from "@scrip/postgres";
import { asAdmin, lockWaits, upgradedDatabase } from "@scrip/testing";
import { expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";

/** The first migration that the release before does not have. */
const RELEASE_BEFORE = { schema: SCHEMA, role: ROLE, folder: MIGRATIONS, before: "0031" };

const maintain = (url: string) =>
  maintainPartitions({ url, schema: SCHEMA, tables: [STORED_REQUEST_TABLE] });

/** The first id of a request with this key: the same for all that share a row. */
async function idOf(db: Database, key: string): Promise<string> {
  const newId = await reserveIds(db, {
    projectId: "proj_1",
    key,
    requestHash: Buffer.from("hash"),
  });
  return newId("cust");
}

/** As the release before did, with its prepared statement; whether the key was new. */
async function insertAsBefore(db: Database, key: string, seed: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "insert-as-before",
    text: `insert into idempotent_request as stored (project_id, key, request_hash, seed)
           values ('proj_1', $1, 'hash', $2)
               on conflict (project_id, key) do update
              set request_hash = excluded.request_hash, seed = excluded.seed, response = null,
                  error = null, created_at = excluded.created_at
            where stored.created_at < now() - interval '48 hours'`,
    values: [key, seed],
  });
  return rowCount === 1;
}

const SEED = "0199f0000000000001";

test("an upgrade retains keys and responses, and each key stays unique while both releases write", async () => {
  await using database = await upgradedDatabase(RELEASE_BEFORE);
  const db = database.open();
  for (const key of ["young", "old", "expired"]) await insertAsBefore(db, key, `${SEED}${key}`);
  await db.query(
    `update idempotent_request
        set response = convert_to(key, 'UTF8'),
            created_at = now() - case key when 'young' then interval '0'
                                          when 'old' then interval '47 hours 59 minutes'
                                          else interval '48 hours 1 minute' end`,
  );

  await database.upgrade();
  expect((await maintain(database.url)).dropped).toEqual([]);
  const responses = await db.query<{ key: string; response: string }>(
    `select key, convert_from(response, 'UTF8') as response from stored_request order by key`,
  );
  expect(responses.rows).toEqual(
    ["expired", "old", "young"].map((key) => ({ key, response: key })),
  );
  const seeded = (key: string): Promise<string> => idOf(db, key);
  expect(await insertAsBefore(db, "young", "x")).toBe(false);
  expect(await insertAsBefore(db, "between", `${SEED}between`)).toBe(true);
  const ids = await Promise.all(["young", "old", "between", "expired", "new"].map(seeded));
  expect(await Promise.all(["young", "old", "between", "expired", "new"].map(seeded))).toEqual(ids);
  expect(new Set(ids).size).toBe(5);
  const seeds = await db.query<{ key: string }>(
    "select key from stored_request where seed = $1 || key order by key",
    [SEED],
  );
  // The expired one was replaced.
  expect(seeds.rows.map(({ key }) => key)).toEqual(["between", "old", "young"]);
  expect(await insertAsBefore(db, "new", "x")).toBe(false);
});

test("an upgrade that waits for a long request delays no other", async () => {
  await using database = await upgradedDatabase(RELEASE_BEFORE);
  const [long, db] = [database.open(), database.open()];
  const ended = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const request = long.transaction(async (tx) => {
    await tx.query("insert into idempotent_request values ('proj_1', 'long', 'hash', 'long')");
    begun.resolve();
    await ended.promise;
  });
  await begun.promise;
  const migration = database.upgrade();
  await expect.poll(() => lockWaits(database.url)).toBe(1);

  expect(await insertAsBefore(db, "short", "short")).toBe(true);

  ended.resolve();
  await Promise.all([request, migration]);
  const { rows } = await db.query<{ key: string }>("select key from stored_request order by key");
  expect(rows.map(({ key }) => key)).toEqual(["long", "short"]);
});

test("requests of the same key in several processes share one row, which is dropped with its partition", async () => {
  await using database = await upgradedDatabase(RELEASE_BEFORE);
  await database.upgrade();
  await maintain(database.url);
  const processes = [database.open(), database.open(), database.open()];
  const keys = Array.from({ length: 40 }, (_, nth) => `key ${nth}`);
  const ids = await Promise.all(
    keys.map((key) => Promise.all(processes.map((db) => idOf(db, key)))),
  );
  expect(ids.map((same) => new Set(same).size)).toEqual(keys.map(() => 1));
  expect(new Set(ids.flat()).size).toBe(keys.length);

  const [db] = processes as [Database];
  await asAdmin(database.url, async (client) => {
    await client.query(
      `set search_path to ${SCHEMA}; set timezone to 'UTC';
       create table stored_request_p2026010100 partition of stored_request (primary key (project_id, key))
         for values from ('2026-01-01') to ('2026-01-02');
       insert into stored_request (project_id, key, request_hash, created_at)
       values ('proj_1', 'expired', 'hash', '2026-01-01 12:00')`,
    );
  });
  expect(await maintain(database.url)).toMatchObject({
    dropped: ["stored_request_p2026010100"],
    deleted: 0,
  });
  const left = await db.query<{ key: string }>("select distinct key from stored_request");
  expect(left.rows.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
});
