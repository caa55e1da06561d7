import path from "node:path";

import { currentTracing, readTracingConfig, startTracing } from "@scrip/telemetry";
import { emptyDatabase, type ReceivedSpan, startSpanCollector } from "@scrip/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

import { createDatabase, type Database, migrate } from "../src/index.ts";

const SERVICE = {
  schema: "till",
  role: "scrip_till",
  folder: path.join(import.meta.dirname, "fixture/till"),
};

let server: Awaited<ReturnType<typeof emptyDatabase>>;

beforeAll(async () => {
  server = await emptyDatabase();
  await migrate({ url: server.url, ...SERVICE });
});

afterAll(() => server[Symbol.asyncDispose]());

const UNSAMPLED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

/** The spans of what `work` runs in the span of a request, and those of this span. */
async function spansOf(
  work: (db: Database) => Promise<unknown>,
  parent: string | null = null,
): Promise<readonly ReceivedSpan[]> {
  await using collector = await startSpanCollector();
  process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url;
  try {
    await using _ = await startTracing("till", readTracingConfig(process.env));
    const db = createDatabase({ ...SERVICE, url: server.url, poolSize: 2, onError: () => {} });
    // As background jobs do.
    await db.query("select 5 as five");
    await currentTracing()
      ?.inSpan({ name: "request", kind: "server", parent }, () => work(db))
      .finally(() => db.close());
  } finally {
    delete process.env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  }
  return collector.spans;
}

const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan | undefined =>
  spans.find((span) => span.name === name);

test("a statement has a span with its name, its operation and its rows, and without its parameters", async () => {
  const spans = await spansOf((db) =>
    db.query({
      name: "find-coins",
      text: "select coin from unnest($1::text[]) as given (coin)",
      values: [["penny-9137", "dime-9137"]],
    }),
  );
  const { hostname, pathname } = new URL(server.url);
  expect(named(spans, "find-coins")).toMatchObject({
    parentSpanId: named(spans, "request")?.spanId,
    attributes: {
      "db.system.name": "postgresql",
      "db.namespace": `${pathname.slice(1)}|till`,
      "db.operation.name": "SELECT",
      "db.query.summary": "SELECT",
      "db.response.returned_rows": 2,
      "server.address": hostname,
    },
  });
  expect(JSON.stringify(spans)).not.toContain("9137");
});

test("text with several commands has one span, with the rows of the last command", async () => {
  const spans = await spansOf((db) =>
    db.transaction(async (tx) => {
      await tx.query("savepoint part; set local lock_timeout = 100");
      await tx.query("select 1 as one; select 2 as two union select 3");
    }),
  );
  const rows = spans.map(({ attributes }) => attributes["db.response.returned_rows"]);
  expect(rows.filter((count) => count !== undefined)).toEqual([0, 2]);
});

test("a statement without a name is named after its operation and its table", async () => {
  const spans = await spansOf(async (db) => {
    await db.query("select 1 as one from pg_class where relname = $1", ["x"]);
    await db.query("with gone as (delete from sale where false returning 1) select 2 as two");
  });
  expect(spans.map(({ name }) => name)).toEqual(["SELECT pg_class", "DELETE sale", "request"]);
});

test("the statements of a transaction and its commit are parts of it", async () => {
  const spans = await spansOf((db) =>
    db.transaction(async (tx) => {
      await Promise.all([
        tx.query({ name: "first", text: "select 1 as one", values: [] }),
        tx.query({ name: "second", text: "select 2 as two", values: [] }),
      ]);
    }),
  );
  const transaction = named(spans, "transaction");
  expect(transaction?.parentSpanId).toBe(named(spans, "request")?.spanId);
  const parts = spans.filter(({ parentSpanId }) => parentSpanId === transaction?.spanId);
  expect(parts.map(({ name }) => name).toSorted()).toEqual(["commit", "first", "second"]);
});

test("a failed statement has the SQLSTATE of its error", async () => {
  const spans = await spansOf((db) =>
    expect(db.query({ name: "divide", text: "select 1 / 0 as x", values: [] })).rejects.toThrow(
      "division by zero",
    ),
  );
  expect(named(spans, "divide")?.attributes).toMatchObject({ "db.response.status_code": "22012" });
});

test("statements outside of exported traces have no spans", async () => {
  const query = (db: Database) => db.query({ name: "inside", text: "select 1 as one", values: [] });
  expect(await spansOf(query, UNSAMPLED)).toEqual([]);
  expect((await spansOf(query)).map(({ name }) => name)).toEqual(["inside", "request"]);
});
