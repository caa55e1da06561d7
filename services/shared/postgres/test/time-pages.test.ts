import { emptyDatabase } from "@scrip/testing";
import { Client } from "pg";
import { afterAll, describe, expect, test } from "vitest";

import { createDatabase, type CursorTimestamp, listReads, readTimePage } from "../src/index.ts";

const NOON = Date.UTC(2026, 0, 1, 12);

const { url, ...database } = await emptyDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const client = new Client({ connectionString: url });
await client.connect();
afterAll(() => client.end());
await client.query(
  `create schema listed; create table listed.item (id text, at timestamptz);
   grant usage on schema listed to public; grant select on listed.item to public;
   do $$ begin
     create role scrip_listed; create role scrip_listed_tenant;
   exception when duplicate_object or unique_violation then null; end $$`,
);
const db = createDatabase({
  url,
  schema: "listed",
  role: "scrip_listed",
  poolSize: 2,
  onError: () => {},
});
afterAll(() => db.close());

type Row = { id: string; at: Date | null };
type Request = {
  readonly startingAfter?: CursorTimestamp | undefined;
  readonly limit?: number;
  readonly offset?: number;
};

const listIn =
  (descending: boolean) =>
  ({ startingAfter, limit = 3, offset = 0 }: Request = {}) =>
    readTimePage<Row>(listReads(db, "p"), {
      from: "from item where id <> $1",
      values: ["hidden"],
      order: { column: "at", id: "id", descending, nullable: true },
      timeOf: ({ at }) => at,
      startingAfter,
      limit,
      offset,
      select: (page) => `select id, at ${page}`,
    });

async function insert(items: readonly (readonly [id: string, at: string | null])[]) {
  await client.query("truncate listed.item");
  await client.query(
    "insert into listed.item select * from unnest($1::text[], $2::timestamptz[])",
    [items.map(([id]) => id), items.map(([, at]) => at)],
  );
}

async function readAll(list: ReturnType<typeof listIn>, request: Request = {}) {
  const ids: string[] = [];
  let { startingAfter } = request;
  for (;;) {
    const { rows, hasMore, moreStartingAfter } = await list({ ...request, startingAfter });
    ids.push(...rows.map(({ id }) => id));
    expect(moreStartingAfter !== undefined).toBe(hasMore);
    if (moreStartingAfter === undefined) return ids;
    startingAfter = moreStartingAfter;
  }
}

const at = (ms: number): string => new Date(NOON + ms).toISOString();

describe.each([
  ["descending", true],
  ["ascending", false],
])("a list by time, %s", (_, descending) => {
  const list = listIn(descending);

  test("returns rows of one millisecond, with microseconds or without a time exactly once", async () => {
    await insert([
      ...Array.from({ length: 8 }, (_each, index) => [`a${index}`, at(5)] as const),
      ...Array.from({ length: 4 }, (_each, index) => [`n${index}`, null] as const),
      ["b0", "2026-01-01T12:00:00.007250Z"],
      ["b1", "2026-01-01T12:00:00.007125Z"],
      ["b2", "2026-01-01T12:00:00.007999Z"],
      ["c0", at(9)],
      ["hidden", at(5)],
    ]);
    const { rows } = await list({ limit: 100 });
    const all = rows.map(({ id }) => id);
    expect(all).toHaveLength(16);
    for (const limit of [1, 2, 3, 5, 15]) {
      expect(await readAll(list, { limit }), `${limit} rows a page`).toEqual(all);
    }
  });

  test("continues behind a numbered page", async () => {
    await insert(Array.from({ length: 12 }, (_each, index) => [`a${index}`, at(index % 2)]));
    const all = await readAll(list);
    for (const offset of [0, 1, 3, 6, 9]) {
      const { rows, moreStartingAfter: startingAfter } = await list({ offset, limit: 2 });
      expect(rows.map(({ id }) => id)).toEqual(all.slice(offset, offset + 2));
      expect(await readAll(list, { startingAfter })).toEqual(all.slice(offset + 2));
      const next = await list({ startingAfter, offset: 1, limit: 1 });
      const rest = all.slice(offset + 4);
      if (next.moreStartingAfter === undefined) expect(rest).toEqual([]);
      else expect(await readAll(list, { startingAfter: next.moreStartingAfter })).toEqual(rest);
    }
  });

  test("does not skip rows of other times when rows of the cursor's time were deleted", async () => {
    await insert([
      ["a0", at(1)],
      ["a1", at(1)],
      ["a2", at(1)],
      ["before", at(0)],
      ["later", at(2)],
    ]);
    const { moreStartingAfter: startingAfter } = await list({ limit: 4 });
    await client.query("delete from listed.item where id like 'a%'");
    expect(await readAll(list, { startingAfter })).toEqual([descending ? "before" : "later"]);
  });

  test("counts all rows and ends at the bounds of time", async () => {
    await insert([["a0", at(1)]]);
    for (const seconds of [-62_135_596_800n, 253_402_300_799n]) {
      for (const nanos of [0, 999_000_000, 999_999_999]) {
        const startingAfter = { $typeName: "google.protobuf.Timestamp", seconds, nanos } as const;
        const isBefore = descending ? seconds > 0n : seconds < 0n;
        const { rows, total } = await list({ startingAfter });
        expect([rows.length, total]).toEqual([isBefore ? 1 : 0, 1n]);
      }
    }
  });
});
