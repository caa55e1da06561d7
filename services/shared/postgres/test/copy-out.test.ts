import { createHash } from "node:crypto";
import path from "node:path";

import { asAdmin, emptyDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { createDatabase, migrate } from "../src/index.ts";

const SERVICE = {
  schema: "till",
  role: "scrip_till",
  folder: path.join(import.meta.dirname, "fixture/till"),
};

const server = await emptyDatabase();
await migrate({ url: server.url, ...SERVICE });
const db = createDatabase({ url: server.url, ...SERVICE, poolSize: 2, onError: () => {} });
afterAll(async () => {
  await db.close();
  await server[Symbol.asyncDispose]();
});

const copy = (text: string) => db.bulk("proj_1").copyCsv({ text, values: [] });

/** Rows from empty to larger than what a socket reads at once. */
const ROWS = 3_000;
const TEXT = `select n, repeat(chr(97 + n % 26), n * 7919 % 97 + case when n % 500 = 0 then 200000 else 0 end) as cell
                from generate_series(1, ${ROWS}) as n order by n`;

const expected = Array.from({ length: ROWS }, (_, at) => {
  const n = at + 1;
  const length = ((n * 7919) % 97) + (n % 500 === 0 ? 200_000 : 0);
  const cell = String.fromCharCode(97 + (n % 26)).repeat(length);
  // COPY quotes empty text, which unquoted is null.
  return `${n},${cell === "" ? '""' : cell}\n`;
}).join("");

test("reads rows of all sizes unchanged, at the pace of the reader", async () => {
  const chunks: Buffer[] = [];
  for await (const chunk of copy(TEXT)) {
    chunks.push(chunk);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const hash = (content: Buffer | string) => createHash("sha256").update(content).digest("hex");
  expect(hash(Buffer.concat(chunks))).toBe(hash(expected));
});

test("reads times of all years as they are sent", async () => {
  const times = [
    "-000001-12-31T10:00:00.000Z",
    "0000-02-29T00:00:00.000Z",
    "0001-01-01T00:00:00.001Z",
    "2026-11-27T05:47:34.123Z",
    "9999-12-31T23:59:59.999Z",
    "+010000-01-01T14:00:00.000Z",
  ].map((text) => new Date(text));
  const list = times.map((_, at) => `extract(epoch from $${at + 2}::timestamptz) * 1000`);
  const text = `select ${list.join(", ")} from unnest($1::timestamptz[]) as t limit 1`;
  let row = "";
  for await (const chunk of db.bulk("proj_1").copyCsv({ text, values: [times, ...times] })) {
    row += chunk.toString();
  }
  expect(row.trim().split(",").map(Number)).toEqual(times.map(Number));
});

test("reads no rows of an empty result", async () => {
  for await (const chunk of copy("select 1 where false")) expect(chunk).toBeUndefined();
});

test("skips notices between rows", async () => {
  await asAdmin(server.url, (client) =>
    client.query(`create function public.noisy(n int) returns int language plpgsql as
                  $$ begin raise notice 'row %', n; return n; end $$`),
  );
  let text = "";
  for await (const chunk of copy("select public.noisy(n) from generate_series(1, 100) as n")) {
    text += chunk.toString();
  }
  expect(text).toBe(Array.from({ length: 100 }, (_, at) => `${at + 1}\n`).join(""));
});

test("rejects a statement that fails, before or between rows", async () => {
  const read = async (text: string): Promise<number> => {
    let bytes = 0;
    for await (const chunk of copy(text)) bytes += chunk.length;
    return bytes;
  };
  await expect(read("select missing")).rejects.toThrow('column "missing" does not exist');
  const late = "select 1 / (100000 - n) from generate_series(1, 200000) as n";
  await expect(read(late)).rejects.toThrow("division by zero");
});

test("rejects when the connection breaks while rows are read", async () => {
  const read = async (): Promise<void> => {
    for await (const _ of copy("select n from generate_series(1, 20000000) as n")) {
      await db.query(`select pg_terminate_backend(pid) from pg_stat_activity
                       where application_name like '%bulk' and pid <> pg_backend_pid()`);
    }
  };
  await expect(read()).rejects.toThrow(/terminat/);
});
