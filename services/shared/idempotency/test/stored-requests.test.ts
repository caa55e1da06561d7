import { maintainPartitions } from "@scrip/postgres";
import { emptyDatabase, lockWaits } from "@scrip/testing";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { insertRequest, insertSql, STORED_REQUEST_TABLE } from "../src/stored-requests.ts";

let parts: AsyncDisposableStack;
let url: string;
let client: Client;

beforeAll(async () => {
  await using made = new AsyncDisposableStack();
  ({ url } = made.use(await emptyDatabase()));
  client = await connect(made);
  parts = made.move();
});
afterAll(() => parts.disposeAsync());
beforeEach(() =>
  client.query(
    `drop schema if exists store cascade; create schema store;
     create table stored_request (
       project_id text not null, key text not null, request_hash bytea not null, seed text,
       created_at timestamptz not null default now()
     ) partition by range (created_at);
     create table stored_request_default partition of stored_request (primary key (project_id, key)) default`,
  ),
);

async function connect(scope: AsyncDisposableStack): Promise<Client> {
  const connected = new Client({
    connectionString: url,
    options: "-c search_path=store -c timezone=UTC",
  });
  await connected.connect();
  scope.defer(() => connected.end());
  return connected;
}

const partition = (everyMs: number) =>
  maintainPartitions({ url, schema: "store", tables: [{ ...STORED_REQUEST_TABLE, everyMs }] });

async function insert(
  connection: Client,
  { key, owner, everyMs }: { key: string; owner: string; everyMs: number },
): Promise<boolean> {
  const { rows } = await connection.query<{ inserted: boolean }>(insertSql(everyMs), [
    "proj_1",
    key,
    Buffer.from(owner),
    owner,
  ]);
  return rows[0]!.inserted;
}

/** Whose the newest row of each key is. */
async function owners(): Promise<readonly { key: string; owner: string }[]> {
  const { rows } = await client.query<{ key: string; owner: string }>(
    `select distinct on (key) key, seed as owner from stored_request order by key, created_at desc`,
  );
  return rows;
}

test("a key has one owner when transactions on both sides of a boundary insert it at the same time", async () => {
  await using scope = new AsyncDisposableStack();
  const keys = Array.from({ length: 8 }, (_, nth) => `key ${nth}`);
  const connectAll = () => Promise.all(keys.map(() => connect(scope)));
  const [before, after] = await Promise.all([connectAll(), connectAll()]);
  // A boundary within the next two seconds.
  const boundary = Math.ceil((Date.now() + 500) / 1_000) * 1_000;
  const everyMs = boundary / 1_000;
  await partition(everyMs);
  for (const connection of before) await connection.query("begin; select now()");
  await new Promise((resolve) => setTimeout(resolve, boundary + 50 - Date.now()));

  const inserted = await Promise.all(
    keys.map((key, nth) =>
      Promise.all([
        insert(before[nth]!, { key, owner: "before", everyMs }).then(async (result) => {
          await before[nth]!.query("commit");
          return result;
        }),
        insert(after[nth]!, { key, owner: "after", everyMs }),
        insert(after.at(-1 - nth)!, { key, owner: "other", everyMs }),
      ]),
    ),
  );

  const winners = inserted.map((results) =>
    ["before", "after", "other"].filter((_, i) => results[i]),
  );
  expect(winners.map(({ length }) => length)).toEqual(keys.map(() => 1));
  expect(await owners()).toEqual(keys.map((key, nth) => ({ key, owner: winners[nth]![0] })));
  const { rows } = await client.query(
    "select distinct count(*)::int, count(distinct tableoid)::int as tables from stored_request group by key",
  );
  expect(rows).toEqual([{ count: 2, tables: 2 }]);
});

test("a request near a boundary that loses against one far from it leaves the key to that one", async () => {
  await using scope = new AsyncDisposableStack();
  // The boundary was in the last second.
  const everyMs = Math.floor(Date.now() / 1_000);
  await partition(everyMs);
  const [far, near] = await Promise.all([connect(scope), connect(scope)]);
  await far.query(
    `begin; insert into stored_request (project_id, key, request_hash, seed)
            values ('proj_1', 'key', 'hash', 'far')`,
  );
  const loser = insert(near, { key: "key", owner: "near", everyMs });
  await expect.poll(() => lockWaits(url)).toBe(1);
  await far.query("commit");

  expect(await loser).toBe(false);
  expect(await insert(near, { key: "key", owner: "later", everyMs })).toBe(false);
  expect(await owners()).toEqual([{ key: "key", owner: "far" }]);
});

test("a key is found in an earlier partition until it expires", async () => {
  const { everyMs } = STORED_REQUEST_TABLE;
  await partition(everyMs);
  await client.query(
    `insert into stored_request (project_id, key, request_hash, seed, created_at)
     values ('proj_1', 'young', 'hash', 'first', now() - interval '47 hours 59 minutes'),
            ('proj_1', 'old', 'hash', 'first', now() - interval '48 hours 1 minute')`,
  );
  const again = (key: string) =>
    insertRequest(client, { projectId: "proj_1", key, requestHash: Buffer.from("hash") }, "second");

  expect([await again("young"), await again("old")]).toEqual([false, true]);
});
