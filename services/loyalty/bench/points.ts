/**
 * Measures the points ledger: the expiry of a night for 100,000 cards, and balance reads of a card with 10 and with 100,000
 * transactions.
 * Run: DATABASE_URL=<an empty database> node services/loyalty/bench/points.ts
 */
import { newId } from "@scrip/ids";
import { createDatabase, migrate } from "@scrip/postgres";
import { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { batchCall, clientOf, createDirectTransport } from "@scrip/rpc";

import { createDeps } from "../src/deps.ts";
import { runDueNights } from "../src/jobs/nightly.ts";
import { movePoints } from "../src/points/move-points.ts";
import { routes } from "../src/routes.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";

const url = process.env["DATABASE_URL"];
if (url === undefined) throw new Error("DATABASE_URL is missing");
const CARDS = Number(process.env["CARDS"] ?? 100_000);
const PROJECT = newId("proj");
const NOON = Date.parse("2026-03-01T12:00:00Z");
const BATCH = 1_000;

await migrate({ url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
const db = createDatabase({
  url,
  schema: SCHEMA,
  role: ROLE,
  poolSize: 20,
  onError: console.error,
});
const deps = createDeps(db);
const cards = clientOf(CardService, createDirectTransport(routes(deps)));
const call = () => batchCall("v-bench", Date.now() + 60_000, NOON);

const cardOf = (cardId: string) => ({ projectId: PROJECT, cardId, initialPoints: 0n });

/** Credits to these cards, in batches. */
async function credit(ids: readonly string[], expiresOn: string | null): Promise<void> {
  for (let at = 0; at < ids.length; at += BATCH) {
    const movements = ids.slice(at, at + BATCH).map((id) => ({
      card: cardOf(id),
      type: "POINTS_ADDITION" as const,
      points: 10n,
      cause: newId("vtx"),
      at: NOON,
      expiredBefore: "2026-03-01",
      expiresOn,
    }));
    await db.transaction((tx) => movePoints(tx, deps, movements));
  }
}

const seconds = (since: number): number => (performance.now() - since) / 1_000;

const mib = (bytes: number) => Math.round(bytes / 2 ** 20);

async function measureExpiry(): Promise<void> {
  const ids = Array.from({ length: CARDS }, () => newId("v"));
  await credit(ids, "2026-03-01");
  global.gc?.();
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 100);
  const start = performance.now();
  const night = { projectId: PROJECT, timeZone: "UTC", now: NOON + 86_400_000 };
  await runDueNights(deps, night);
  clearInterval(watch);
  console.log(
    `nightly expiry of ${CARDS} cards: ${seconds(start).toFixed(1)} s, memory ${mib(before)} to at most ${mib(peak)} MiB`,
  );
}

/** The median of reads, in milliseconds. */
const read = async (id: string): Promise<number> => {
  const times: number[] = [];
  for (let count = 0; count < 500; count += 1) {
    const start = performance.now();
    await cards.getCardBalances({ cards: [cardOf(id)] }, call());
    times.push(performance.now() - start);
  }
  return times.toSorted((a, b) => a - b)[250] ?? 0;
};

async function measureReads(): Promise<void> {
  const [few, many] = [newId("v"), newId("v")];
  for (let count = 0; count < 10; count += 1) await credit([few], null);
  for (let count = 0; count < 100_000; count += BATCH) {
    await credit(
      Array.from({ length: BATCH }, () => many),
      null,
    );
  }
  await read(few);
  const [a, b] = [await read(few), await read(many)];
  console.log(
    `balance read, median: ${a.toFixed(2)} ms with 10 transactions, ${b.toFixed(2)} ms with 100,000 (${(b / a).toFixed(2)}×)`,
  );
}

await measureExpiry();
await measureReads();
await db.close();
