import { maintainPartitions } from "@scrip/postgres";
import { DEFAULT_RETENTION } from "@scrip/rpc";
import { upgradedDatabase } from "@scrip/testing";
import { expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { type NewStoredResponse, writeCommits } from "../src/store/commit-statement.ts";
import { findStoredResponses } from "../src/store/idempotency.ts";
import { partitionedTables } from "../src/store/partitions.ts";

/** The first migration that the release before does not have. */
const RELEASE_BEFORE = { schema: SCHEMA, role: ROLE, folder: MIGRATIONS, before: "0013" };
const NOTHING = { usages: [], redemptions: [], ledgerEntries: [], events: [] };

const responseOf = (key: string): NewStoredResponse => ({
  projectId: "proj_1",
  key,
  requestHash: Buffer.from("hash"),
  kind: "rollback",
  outcome: Buffer.from(key),
});

const maintain = (url: string) =>
  maintainPartitions({ url, schema: SCHEMA, tables: partitionedTables(DEFAULT_RETENTION) });

test("an upgrade retains the stored responses, and each key stays unique while both releases write", async () => {
  await using database = await upgradedDatabase(RELEASE_BEFORE);
  const db = database.open();
  const insertAsBefore = (key: string) =>
    db.query({
      name: "insert-as-before",
      text: `insert into idempotency (project_id, key, request_hash, outcome, kind)
             values ('proj_1', $1, 'hash', convert_to($1, 'UTF8'), 'rollback') on conflict do nothing`,
      values: [key],
    });
  await insertAsBefore("young");
  await insertAsBefore("old");
  await db.query(
    "update idempotency set created_at = now() - interval '47 hours 59 minutes' where key = 'old'",
  );

  await database.upgrade();
  expect((await maintain(database.url)).dropped).toEqual([]);
  const found = await findStoredResponses(
    db,
    ["young", "old", "new"].map((key) => ({ projectId: "proj_1", key })),
  );
  expect(
    [...found.values()].map(({ outcome }) => Buffer.from(outcome).toString()).toSorted(),
  ).toEqual(["old", "young"]);
  // A connection of the release before, with its prepared statement.
  expect((await insertAsBefore("young")).rowCount).toBe(0);
  expect((await insertAsBefore("between")).rowCount).toBe(1);
  const store = (...keys: string[]) =>
    db.transaction((tx) => writeCommits(tx, { ...NOTHING, responses: keys.map(responseOf) }));
  expect(await store("old", "young", "between", "new")).toBeLessThan(4);
});

test("stored responses of the same key in two processes meet in one partition", async () => {
  await using database = await upgradedDatabase(RELEASE_BEFORE);
  await database.upgrade();
  await maintain(database.url);
  const processes = [database.open(), database.open(), database.open()];
  const keys = Array.from({ length: 40 }, (_, nth) => `key ${nth}`);
  const stored = await Promise.all(
    keys.flatMap((key) =>
      processes.map((db) =>
        db.transaction((tx) => writeCommits(tx, { ...NOTHING, responses: [responseOf(key)] })),
      ),
    ),
  );
  expect(stored.filter((count) => count === 1)).toHaveLength(keys.length);
  expect(stored.filter((count) => count === 0)).toHaveLength(2 * keys.length);
});
