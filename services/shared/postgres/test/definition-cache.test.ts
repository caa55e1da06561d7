import { randomUUID } from "node:crypto";
import path from "node:path";

import { testDatabase, type TestDatabase } from "@scrip/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

import {
  bumpDefinitions,
  createDefinitionCache,
  createDefinitionVersions,
  type DefinitionKey,
  type DefinitionVersions,
  type Queryable,
  UnreadableDefinition,
} from "../src/index.ts";

let db: TestDatabase;

beforeAll(async () => {
  db = await testDatabase({
    schema: "prices",
    role: "scrip_prices",
    folder: path.join(import.meta.dirname, "fixture/prices"),
  });
});

afterAll(() => db[Symbol.asyncDispose]());

test("loads concurrent misses together, and caches them, also absent definitions", async () => {
  const { write, cache, batches, project } = createProcess();
  await write({ apple: 10n, pear: 20n });
  const [some, one] = await Promise.all([
    cache.getMany(project, ["apple", "plum"]),
    cache.get(project, "pear"),
  ]);
  expect(some).toEqual(new Map([["apple", 10n]]));
  expect(one).toBe(20n);
  expect(batches).toEqual([["apple", "plum", "pear"]]);
  expect(await cache.getMany(project, ["plum", "pear", "apple"])).toEqual(
    new Map([
      ["pear", 20n],
      ["apple", 10n],
    ]),
  );
  expect(batches).toHaveLength(1);
});

test("separates projects, and a write to one does not invalidate another", async () => {
  const shop = createProcess();
  const other = randomUUID();
  await shop.write({ apple: 10n });
  expect(await shop.cache.get(other, "apple")).toBeUndefined();
  await shop.write({ apple: 11n });
  expect(await shop.cache.get(other, "apple")).toBeUndefined();
  expect(shop.batches).toHaveLength(1);
  expect(await shop.cache.get(shop.project, "apple")).toBe(11n);
});

test("shows a write of this process immediately, also of a definition that was absent", async () => {
  const { write, cache, project } = createProcess();
  expect(await cache.get(project, "apple")).toBeUndefined();
  await write({ apple: 10n });
  expect(await cache.get(project, "apple")).toBe(10n);
});

test("shows a write of another process within a second, with few checks", async () => {
  const thisProcess = createProcess();
  const otherProcess = createProcess({ project: thisProcess.project });
  await thisProcess.write({ apple: 10n });
  expect(await otherProcess.cache.get(thisProcess.project, "apple")).toBe(10n);
  await thisProcess.write({ apple: 11n });
  otherProcess.advance(499);
  expect(await otherProcess.cache.get(thisProcess.project, "apple")).toBe(10n);
  otherProcess.advance(501);
  expect(await otherProcess.cache.get(thisProcess.project, "apple")).toBe(11n);
  expect(otherProcess.batches).toHaveLength(2);
});

test("serves the cached definition after half a second while it checks the version", async () => {
  const thisProcess = createProcess();
  const otherProcess = createProcess({ project: thisProcess.project });
  await thisProcess.write({ apple: 10n });
  await otherProcess.cache.get(thisProcess.project, "apple");
  await thisProcess.write({ apple: 11n });
  otherProcess.advance(500);
  expect(await otherProcess.cache.get(thisProcess.project, "apple")).toBe(10n);
  await expect.poll(() => otherProcess.cache.get(thisProcess.project, "apple")).toBe(11n);
});

test("retains cached definitions of an unchanged version", async () => {
  const { write, cache, batches, project, advance } = createProcess();
  await write({ apple: 10n });
  await cache.get(project, "apple");
  for (let i = 0; i < 5; i += 1) {
    advance(5_000);
    expect(await cache.get(project, "apple")).toBe(10n);
  }
  expect(batches).toHaveLength(1);
});

test("never serves definitions loaded before a write of this process to later reads", async () => {
  const process = createProcess();
  const { write, cache, project } = process;
  await write({ apple: 10n });
  const gate = process.holdResults();
  const early = cache.get(project, "apple");
  await gate.reached;
  await write({ apple: 11n });
  const late = cache.get(project, "apple");
  gate.open();
  expect(await early).toBe(10n);
  expect(await late).toBe(11n);
  expect(await cache.get(project, "apple")).toBe(11n);
});

test("drops definitions loaded before a write of another process with their version", async () => {
  const thisProcess = createProcess();
  const otherProcess = createProcess({ project: thisProcess.project });
  await thisProcess.write({ apple: 10n });
  const gate = otherProcess.holdResults();
  const early = otherProcess.cache.get(thisProcess.project, "apple");
  await gate.reached;
  await thisProcess.write({ apple: 11n });
  // The new version arrives before the result of the old load.
  otherProcess.advance(1_000);
  await otherProcess.versions.epochOf(thisProcess.project);
  gate.open();
  expect(await early).toBe(10n);
  expect(await otherProcess.cache.get(thisProcess.project, "apple")).toBe(11n);
});

test("shows a write of another process after a refresh, however young the cached version is", async () => {
  const thisProcess = createProcess();
  const otherProcess = createProcess({ project: thisProcess.project });
  const { cache, versions, project } = otherProcess;
  await thisProcess.write({ apple: 10n });
  expect(await cache.get(project, "apple")).toBe(10n);
  await thisProcess.write({ apple: 11n });
  expect(await cache.get(project, "apple")).toBe(10n);
  await versions.refresh(project);
  expect(await cache.get(project, "apple")).toBe(11n);
});

test("is unchanged by a failed write", async () => {
  const { write, versions, cache, project } = createProcess();
  await write({ apple: 10n });
  const failing = versions.write(project, async (tx) => {
    await setPrices(tx, project, { apple: 11n });
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await cache.get(project, "apple")).toBe(10n);
});

test("drops the entry that was used least recently", async () => {
  const { write, cache, batches, project } = createProcess({ maxEntries: 2 });
  await write({ apple: 1n, pear: 2n, plum: 3n });
  await cache.get(project, "apple");
  await cache.get(project, "pear");
  await cache.get(project, "apple");
  await cache.get(project, "plum");
  expect(await cache.get(project, "apple")).toBe(1n);
  expect(batches).toHaveLength(3);
  expect(await cache.get(project, "pear")).toBe(2n);
  expect(batches).toHaveLength(4);
});

test("reports a failed load to its callers, and loads again for the next one", async () => {
  const process = createProcess();
  await process.write({ apple: 1n });
  process.failOnce(new Error("away"));
  await expect(process.cache.get(process.project, "apple")).rejects.toThrow("away");
  expect(await process.cache.get(process.project, "apple")).toBe(1n);
});

test("fails only the reads of a definition that cannot be read", async () => {
  const prices = createDefinitionCache<bigint>({
    versions: createDefinitionVersions({ db }),
    maxEntries: 10,
    load: async (keys) =>
      keys.map(({ key }) => (key === "plum" ? new UnreadableDefinition("plum") : 10n)),
  });
  const project = randomUUID();
  const reads = await Promise.allSettled([
    prices.getMany(project, ["apple"]),
    prices.getMany(project, ["apple", "plum"]),
    prices.get(project, "pear"),
  ]);
  expect(reads).toMatchObject([
    { value: new Map([["apple", 10n]]) },
    { reason: new UnreadableDefinition("plum") },
    { value: 10n },
  ]);
});

test("never serves a reader older definitions than the reader wrote, with many writers in two processes", async () => {
  const thisProcess = createProcess();
  const otherProcess = createProcess({ project: thisProcess.project });
  let written = 0n;
  const readers = [thisProcess, otherProcess].map(async ({ cache, project, advance }) => {
    let last = 0n;
    for (let i = 0; i < 200; i += 1) {
      const before = written;
      advance(1_000);
      const read = (await cache.get(project, "apple")) ?? 0n;
      expect(read >= before).toBe(true);
      expect(read >= last).toBe(true);
      last = read;
    }
  });
  for (let i = 1n; i <= 50n; i += 1n) {
    await (i % 2n === 0n ? thisProcess : otherProcess).write({ apple: i });
    written = i;
  }
  await Promise.all(readers);
});

/** The parts of one process of a service, with a clock of their own. */
function createProcess({ project = randomUUID(), maxEntries = 100 } = {}) {
  let time = 0;
  let gate: { reached: () => void; opened: Promise<void> } | undefined;
  let failure: Error | undefined;
  const batches: string[][] = [];
  const versions: DefinitionVersions = createDefinitionVersions({ db, now: () => time });
  const cache = createDefinitionCache<bigint>({
    versions,
    maxEntries,
    load: async (keys) => {
      batches.push(keys.map(({ key }) => key));
      const results = await findPrices(keys);
      const held = gate;
      gate = undefined;
      held?.reached();
      await held?.opened;
      const failed = failure;
      failure = undefined;
      if (failed !== undefined) throw failed;
      return results;
    },
  });
  return {
    project,
    versions,
    cache,
    batches,
    advance: (ms: number) => {
      time += ms;
    },
    write: (prices: Readonly<Record<string, bigint>>) =>
      versions.write(project, (tx) => setPrices(tx, project, prices)),
    /** The next load reads, and then waits before it returns. */
    holdResults: () => {
      const reached = Promise.withResolvers<void>();
      const opened = Promise.withResolvers<void>();
      gate = { reached: reached.resolve, opened: opened.promise };
      return { reached: reached.promise, open: opened.resolve };
    },
    failOnce: (error: Error) => {
      failure = error;
    },
  };
}

async function setPrices(
  tx: Queryable,
  projectId: string,
  prices: Readonly<Record<string, bigint>>,
): Promise<void> {
  await tx.query(
    `insert into price (project_id, id, amount)
     select $1, * from unnest($2::text[], $3::bigint[])
         on conflict (project_id, id) do update set amount = excluded.amount`,
    [projectId, Object.keys(prices), Object.values(prices)],
  );
}

async function findPrices(
  keys: readonly DefinitionKey[],
): Promise<readonly (bigint | undefined)[]> {
  const { rows } = await db.query<{ amount: bigint | null }>(
    `select price.amount
       from unnest($1::text[], $2::text[]) with ordinality as requested (project_id, id, position)
       left join price using (project_id, id)
      order by position`,
    [keys.map(({ projectId }) => projectId), keys.map(({ key }) => key)],
  );
  return rows.map((row) => row.amount ?? undefined);
}

test("invalidates the project after a service bumps the version in its own transaction", async () => {
  const { versions, cache, project } = createProcess();
  expect(await cache.get(project, "apple")).toBeUndefined();
  await db.transaction(async (tx) => {
    await setPrices(tx, project, { apple: 5n });
    await bumpDefinitions(tx, project);
  });
  await versions.invalidate(project);
  expect(await cache.get(project, "apple")).toBe(5n);
});
