import { once } from "node:events";
import { type AddressInfo, createConnection, createServer } from "node:net";
import path from "node:path";

import { createMetrics } from "@scrip/telemetry";
import { emptyDatabase } from "@scrip/testing";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";

import {
  createDatabase,
  type Database,
  isRetryable,
  isUnavailable,
  migrate,
  sqlState,
} from "../src/index.ts";

const SERVICE = {
  schema: "till",
  role: "scrip_till",
  folder: path.join(import.meta.dirname, "fixture/till"),
};

let server: Awaited<ReturnType<typeof emptyDatabase>>;
let db: Database;
const metrics = createMetrics({ withProcess: false });
const idleErrors: Error[] = [];

beforeAll(async () => {
  server = await emptyDatabase();
  await migrate({ url: server.url, ...SERVICE });
  db = createDatabase({
    url: server.url,
    ...SERVICE,
    poolSize: 5,
    metrics,
    onError: (error) => idleErrors.push(error),
  });
});

afterAll(async () => {
  await db.close();
  await server[Symbol.asyncDispose]();
});

const openWith = (poolSize: number): Database & AsyncDisposable => {
  const own = createDatabase({ ...SERVICE, url: server.url, poolSize, onError: () => {} });
  return { ...own, [Symbol.asyncDispose]: () => own.close() };
};

/** Ends a session from outside, as an administrator or a crash does. */
async function terminate(pid: number): Promise<void> {
  await using client = await asAdministrator();
  await client.query("select pg_terminate_backend($1)", [pid]);
}

async function asAdministrator(): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

const pidOf = async (queryable: Pick<Database, "query">): Promise<number> => {
  const { rows } = await queryable.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]?.pid ?? 0;
};

test("connects as the role of the service, in its schema and within the limits", async () => {
  const { rows } = await db.query(
    `select current_user as role, current_schema() as schema,
            current_setting('statement_timeout') as statement,
            current_setting('lock_timeout') as lock,
            current_setting('idle_in_transaction_session_timeout') as idle,
            current_setting('jit') as jit,
            current_setting('application_name') as name`,
  );
  expect(rows).toEqual([
    {
      role: "scrip_till",
      schema: "till",
      statement: "3s",
      lock: "1s",
      idle: "5s",
      jit: "off",
      name: "till",
    },
  ]);
});

test("keeps the role after a reset", async () => {
  await db.transaction(async (tx) => {
    await tx.query("reset role");
    expect((await tx.query("select current_user as role")).rows).toEqual([{ role: "scrip_till" }]);
  });
});

test("lets options in the URL replace neither the role nor the limits", async () => {
  const url = new URL(server.url);
  url.searchParams.set("options", "-c statement_timeout=0 -c work_mem=8MB");
  const other = createDatabase({ ...SERVICE, url: url.href, poolSize: 1, onError: () => {} });
  try {
    const { rows } = await other.query(
      `select current_user as role, current_setting('statement_timeout') as statement,
              current_setting('work_mem') as memory`,
    );
    expect(rows).toEqual([{ role: "scrip_till", statement: "3s", memory: "8MB" }]);
  } finally {
    await other.close();
  }
});

test("transactions leave a connection to the statements that they wait for", async () => {
  await using small = openWith(3);
  const nested = (): Promise<number> => small.transaction(() => pidOf(small));
  const all = Promise.all(Array.from({ length: 12 }, nested));
  await expect(all).resolves.toHaveLength(12);
});

test("a transaction that finds no free connection fails as unavailable", async () => {
  await using small = openWith(2);
  const running = Promise.withResolvers<void>();
  const first = small.transaction(() => running.promise);
  await expect(small.transaction(pidOf)).rejects.toSatisfy(isUnavailable);
  running.resolve();
  await first;
  expect(await small.transaction(pidOf)).toBeGreaterThan(0);
});

test("rejects a name that would need quotes", () => {
  const options = { url: server.url, poolSize: 1, onError: () => {} };
  expect(() => createDatabase({ ...options, schema: "till; drop", role: "a" })).toThrow(RangeError);
  expect(() => createDatabase({ ...options, schema: "till", role: "a -c x=y" })).toThrow(
    RangeError,
  );
});

test("reads money as bigint, instants as dates and days as text", async () => {
  const { rows } = await db.query(
    `select 9007199254740993::bigint as amount, array[1, null, 9007199254740993]::bigint[] as list,
            timestamptz '2026-02-03 04:05:06.789Z' as at, date '2026-02-03' as day, $1::bigint as back`,
    [9007199254740993n],
  );
  expect(rows).toEqual([
    {
      amount: 9007199254740993n,
      list: [1n, null, 9007199254740993n],
      at: new Date("2026-02-03T04:05:06.789Z"),
      day: "2026-02-03",
      back: 9007199254740993n,
    },
  ]);
});

test("prepares a named statement once for different values", async () => {
  await db.transaction(async (tx) => {
    const double = (value: bigint) =>
      tx.query({ name: "double", text: "select $1::bigint * 2 as twice", values: [value] });
    expect((await double(2n)).rows).toEqual([{ twice: 4n }]);
    expect((await double(21n)).rows).toEqual([{ twice: 42n }]);
    const { rows } = await tx.query("select name from pg_prepared_statements");
    expect(rows).toEqual([{ name: "double" }]);
  });
});

test("runs a statement that was prepared in a failed transaction", async () => {
  const halve = { name: "halve", text: "select $1::bigint / 2 as half", values: [8n] };
  const failing = db.transaction((tx) =>
    Promise.all([tx.query("select 1 / 0"), tx.query(halve), tx.query(halve)]),
  );
  await expect(failing).rejects.toThrow("division by zero");
  const both = await db.transaction((tx) => Promise.all([tx.query(halve), tx.query(halve)]));
  expect(both.map(({ rows }) => rows)).toEqual([[{ half: 4n }], [{ half: 4n }]]);
});

test("sends a batch in one statement with an array per column", async () => {
  const ids = ["b1", "b2"];
  await db.query(`insert into sale (id, amount) select * from unnest($1::text[], $2::bigint[])`, [
    ids,
    [5n, 7n],
  ]);
  const { rows } = await db.query("select id, amount from sale where id = any($1) order by id", [
    ids,
  ]);
  expect(rows).toEqual([
    { id: "b1", amount: 5n },
    { id: "b2", amount: 7n },
  ]);
});

test("commits all work of a transaction or none", async () => {
  const insert = "insert into sale (id, amount) values ($1, 1)";
  expect(
    await db.transaction(async (tx) => {
      await tx.query(insert, ["kept"]);
      return "done";
    }),
  ).toBe("done");
  await expect(
    db.transaction(async (tx) => {
      await tx.query(insert, ["lost"]);
      throw new Error("changed my mind");
    }),
  ).rejects.toThrow("changed my mind");
  const { rows } = await db.query("select id from sale where id in ('kept', 'lost')");
  expect(rows).toEqual([{ id: "kept" }]);
});

test("runs statements that are started together in order, with one failure for all", async () => {
  const together = db.transaction((tx) =>
    Promise.all([
      tx.query("insert into sale (id, amount) values ('together', 1)"),
      tx.query("update sale set amount = amount + 1 where id = 'together'"),
      tx.query("select amount from sale where id = 'together'"),
    ]),
  );
  expect((await together)[2].rows).toEqual([{ amount: 2n }]);

  const error = await db
    .transaction((tx) =>
      Promise.all([
        tx.query("update sale set amount = 9 where id = 'together'"),
        tx.query("select 1 / 0"),
        tx.query("update sale set amount = 10 where id = 'together'"),
      ]),
    )
    .catch((thrown: unknown) => thrown);
  expect(sqlState(error)).toBe("22012");
  const { rows } = await db.query("select amount from sale where id = 'together'");
  expect(rows).toEqual([{ amount: 2n }]);
});

test("reports the first failure, whichever statement the work awaits first", async () => {
  await db.query("insert into sale (id, amount) values ('fought over', 1)");
  const lock = "select id from sale where id = 'fought over' for no key update";
  await db.transaction(async (holder) => {
    await holder.query(lock);
    const error = await db
      .transaction((tx) => {
        // Learns of its failure after that of the statement behind it.
        const locked = tx
          .query(lock)
          .finally(() => new Promise((resolve) => setTimeout(resolve, 50)));
        return Promise.all([locked, tx.query("select 1 as behind")]);
      })
      .catch((thrown: unknown) => thrown);
    expect(sqlState(error)).toBe("55P03");
  });
  expect((await db.query("select 1 as alive")).rows).toEqual([{ alive: 1 }]);
});

test("applies the lock limit of a transaction to that transaction only", async () => {
  const limit = "select current_setting('lock_timeout') as limit";
  const one = createDatabase({ ...SERVICE, url: server.url, poolSize: 1, onError: () => {} });
  try {
    const inside = await one.transaction((tx) => tx.query(limit), { lockTimeoutMs: 70 });
    expect(inside.rows).toEqual([{ limit: "70ms" }]);
    expect((await one.query(limit)).rows).toEqual([{ limit: "1s" }]);
  } finally {
    await one.close();
  }
});

test("does not report a commit after a failure that the work ignored", async () => {
  const swallowing = db.transaction(async (tx) => {
    await tx.query("insert into sale (id, amount) values ('swallowed', 1)");
    await tx.query("select 1 / 0").catch(() => {});
  });
  await expect(swallowing).rejects.toThrow("rolled back");
  expect((await db.query("select id from sale where id = 'swallowed'")).rows).toEqual([]);
});

test("fails the transaction and not the process when a connection dies between two statements", async () => {
  const dying = db.transaction(async (tx) => {
    await terminate(await pidOf(tx));
    // The end reaches the driver while no statement waits for it.
    await new Promise((resolve) => setTimeout(resolve, 100));
    await tx.query("select 1");
  });
  const error: unknown = await dying.catch((thrown: unknown) => thrown);
  expect(isUnavailable(error)).toBe(true);
  expect(isRetryable(error)).toBe(true);
  expect((await db.query("select 1 as alive")).rows).toEqual([{ alive: 1 }]);
});

test("reports a connection that dies during a statement", async () => {
  const error = await db
    .transaction(async (tx) => {
      const pid = await pidOf(tx);
      await Promise.all([tx.query("select pg_sleep(2)"), terminate(pid)]);
    })
    .catch((thrown: unknown) => thrown);
  expect(isUnavailable(error)).toBe(true);
  expect(isRetryable(error)).toBe(true);
});

test("fails the transaction and not the process when a connection dies during hand-over", async () => {
  await using dying = await dyingServer();
  const handed = createDatabase({ url: dying.url, ...SERVICE, poolSize: 1, onError: () => {} });
  const error: unknown = await handed
    .transaction((tx) => tx.query("select 1"))
    .catch((thrown: unknown) => thrown);
  expect(isUnavailable(error)).toBe(true);
  await handed.close();
});

/** Ends each session in the packet that reports it ready, as a crashing server may do. */
async function dyingServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const target = new URL(server.url);
  const proxy = createServer((socket) => {
    const upstream = createConnection(Number(target.port), target.hostname);
    socket.pipe(upstream).on("error", () => {});
    socket.on("error", () => {});
    upstream.on("data", (chunk) => {
      if (chunk.subarray(-READY.length).equals(READY)) socket.end(Buffer.concat([chunk, FATAL]));
      else socket.write(chunk);
    });
    socket.on("close", () => upstream.destroy());
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const url = new URL(server.url);
  url.hostname = "127.0.0.1";
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      proxy.close();
      await once(proxy, "close");
    },
  };
}

const READY = Buffer.from("Z\0\0\0\u0005I", "latin1");
const FATAL_FIELDS = "SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0";
const FATAL = Buffer.concat([
  Buffer.from(["E".charCodeAt(0), 0, 0, 0, 4 + FATAL_FIELDS.length]),
  Buffer.from(FATAL_FIELDS, "latin1"),
]);

test("reports and replaces an idle connection that dies", async () => {
  const before = idleErrors.length;
  await terminate(await pidOf(db));
  await expect.poll(() => idleErrors.length).toBeGreaterThan(before);
  expect((await db.query("select 1 as alive")).rows).toEqual([{ alive: 1 }]);
});

test("stops waiting for a lock after a second, and reports it as unavailable", async () => {
  await db.query("insert into sale (id, amount) values ('contended', 1)");
  const lock = "select id from sale where id = 'contended' for no key update";
  await db.transaction(async (holder) => {
    await holder.query(lock);
    const error = await db.query(lock).catch((thrown: unknown) => thrown);
    expect(sqlState(error)).toBe("55P03");
    expect(isUnavailable(error)).toBe(true);
  });
});

async function figureOf(name: string): Promise<number> {
  const line = (await metrics.text()).split("\n").find((text) => text.startsWith(`${name} `));
  return Number(line?.split(" ")[1]);
}

test("counts a deadlock of two transactions, which is retryable", async () => {
  const deadlocks = await figureOf("deadlocks_total");
  await db.query("insert into sale (id, amount) values ('left', 1), ('right', 1)");
  const lock = "select id from sale where id = $1 for no key update";
  const { promise: bothHold, resolve: release } = Promise.withResolvers<void>();
  let holders = 0;
  const crosswise = (first: string, second: string) =>
    db.transaction(async (tx) => {
      // The lock limit of a second would end the wait before Postgres detects the deadlock.
      await tx.query("set local lock_timeout = '3s'");
      await tx.query(lock, [first]);
      holders += 1;
      if (holders === 2) release();
      await bothHold;
      await tx.query(lock, [second]);
    });
  const outcomes = await Promise.allSettled([
    crosswise("left", "right"),
    crosswise("right", "left"),
  ]);
  const failed = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(failed.map(({ reason }) => sqlState(reason))).toEqual(["40P01"]);
  expect(failed.every(({ reason }) => isRetryable(reason))).toBe(true);
  expect(await figureOf("deadlocks_total")).toBe(deadlocks + 1);
});

test("counts serialization failures of transactions and of single statements", async () => {
  const failures = await figureOf("serialization_retries_total");
  const fail = "do $$ begin raise exception using errcode = 'serialization_failure'; end $$";
  await expect(db.query(fail)).rejects.toThrow("serialization_failure");
  await expect(db.transaction((tx) => tx.query(fail))).rejects.toThrow("serialization_failure");
  expect(await figureOf("serialization_retries_total")).toBe(failures + 2);
});

test("reports connections in use, and transactions that wait for one", async () => {
  const released = Promise.withResolvers<void>();
  const hold = () =>
    db.transaction(async (tx) => {
      await tx.query("select 1");
      await released.promise;
    });
  // Five connections: transactions leave one to single statements.
  const transactions = Array.from({ length: 4 }, hold);
  try {
    await expect.poll(() => figureOf("database_connections_in_use")).toBe(4);
    expect(await figureOf("database_connections_waiting")).toBe(0);
    transactions.push(hold(), hold());
    expect(await figureOf("database_connections_waiting")).toBe(2);
    expect(await figureOf("database_connections_limit")).toBe(5);
  } finally {
    released.resolve();
  }
  // On a busy machine, those that wait may reach their limit.
  await Promise.allSettled(transactions);
  await expect.poll(() => figureOf("database_connections_in_use")).toBe(0);
  expect(await figureOf("database_connections_waiting")).toBe(0);
});

test("reports servers that reject connections or never respond as unavailable", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => silent.once("listening", resolve));
  const address = silent.address();
  const port = typeof address === "object" ? address?.port : 0;
  for (const place of ["127.0.0.1:1", `127.0.0.1:${port}`]) {
    const url = `postgres://nobody:nothing@${place}/none`;
    const away = createDatabase({ ...SERVICE, url, poolSize: 1, onError: () => {} });
    const error = await away.query("select 1").catch((thrown: unknown) => thrown);
    expect(isUnavailable(error)).toBe(true);
    await away.close();
  }
  silent.close();
});

test("accepts a second close, and reports a later query as unavailable", async () => {
  const other = createDatabase({ ...SERVICE, url: server.url, poolSize: 1, onError: () => {} });
  await Promise.all([other.close(), other.close()]);
  const error = await other.query("select 1").catch((thrown: unknown) => thrown);
  expect(isUnavailable(error)).toBe(true);
});
