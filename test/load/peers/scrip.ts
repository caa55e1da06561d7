import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { type Api, authenticate } from "../api.ts";
import { type Codes, createFixtures, createRule, type Fixtures } from "../fixtures.ts";
import { startLoadClient } from "../load.ts";
import { type BenchDatabase, query } from "../postgres.ts";
import { run, settle } from "../running.ts";
import { startStandalone } from "../standalone.ts";
import { CODES, DISCOUNT, MINIMUM, PERCENT_OFF, RACE_CODE, RACE_LIMIT, SUBTOTAL } from "./cart.ts";
import type { Action, Contender, Race } from "./contender.ts";
import { LimitReached, race } from "./drive.ts";
import { post } from "./post.ts";

/** Requests that Scrip rejects because of overload have no effect; clients repeat them after `Retry-After`. */
const OVERLOADED = new Set([429, 503]);
const MOST_REPEATS = 20;

/**
 * Starts Scrip standalone. The benchmark's codes of a shop have the same cart and the same rule; their requests also
 * include one of 1,000 customers, and those of redemptions an `Idempotency-Key`.
 */
export async function startScrip(of: {
  readonly postgres: BenchDatabase;
  readonly dataDir: string;
  readonly log: (line: string) => void;
}): Promise<Contender> {
  const { postgres, dataDir, log } = of;
  await using parts = new AsyncDisposableStack();
  const databaseUrl = await postgres.create("peer_scrip");
  const standalone = parts.use(await startStandalone({ databaseUrl, dataDir }));
  const client = parts.use(startLoadClient());
  const fixtures = await createFixtures(standalone, databaseUrl, CODES);
  await createRaceVoucher(fixtures.api);
  const shop: Shop = {
    url: `http://127.0.0.1:${standalone.port}`,
    headers: await authenticate(standalone),
    bodies: fixtures.shop.many.body as readonly string[],
    databaseUrl,
  };
  await checkDiscount(shop, fixtures.shop.hot);
  const started = parts.move();
  return {
    name: "Scrip",
    pid: standalone.pid,
    measure: async ({ action, clients: connections, seconds }) => {
      const load = fixtures.load({ ...loadOf(fixtures.shop, action), connections, seconds });
      const { statuses, successesPerSecond: perSecond, p50Ms, p99Ms } = await run({ client }, load);
      // Its events are delivered after the responses; the next system must not pay for them.
      await settle({ postgres, standalone, log });
      return { operations: statuses["200"] ?? 0, perSecond, p50Ms, p99Ms };
    },
    race: (attempts) => raceForLimit(shop, attempts),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

type Shop = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodies: readonly string[];
  readonly databaseUrl: string;
};

function loadOf(codes: Fixtures["shop"], action: Action) {
  const { hot, many } = codes;
  switch (action) {
    case "validate":
      return { ...many, keyed: false, action: "validate" as const };
    case "redeem":
      return { ...many, action: "redemption" as const };
    case "redeem one code":
      return { ...hot, action: "redemption" as const };
  }
}

async function createRaceVoucher(api: Api): Promise<void> {
  const atLeast = { $more_than_or_equal: [MINIMUM] };
  await api.create("/v1/vouchers", {
    code: RACE_CODE,
    type: "DISCOUNT_VOUCHER",
    discount: { type: "PERCENT", percent_off: PERCENT_OFF },
    redemption: { quantity: RACE_LIMIT },
    validation_rules: [await createRule(api, "order.amount", atLeast)],
  });
}

async function checkDiscount(shop: Shop, { codes: [code] }: Codes): Promise<void> {
  const url = `${shop.url}/v1/vouchers/${code}/validate`;
  const { status, body } = await post(url, shop.headers, shop.bodies[0] ?? "");
  const { order } = JSON.parse(body) as {
    order?: { amount?: number; total_discount_amount?: number };
  };
  if (status !== 200 || order?.amount !== SUBTOTAL || order.total_discount_amount !== DISCOUNT) {
    throw new Error(`the discount of Scrip differs: ${body}`);
  }
}

async function raceForLimit(shop: Shop, attempts: number): Promise<Race> {
  const url = `${shop.url}/v1/vouchers/${RACE_CODE}/redemption`;
  let repeated = 0;
  const outcomes = await race(attempts, async (attempt) => {
    const headers = { ...shop.headers, "Idempotency-Key": randomUUID() };
    const request = shop.bodies[attempt % shop.bodies.length] ?? "";
    for (let repeats = 0; repeats <= MOST_REPEATS; repeats += 1) {
      const { status, body, retryAfter } = await post(url, headers, request);
      if (status === 200) return;
      if (body.includes('"quantity_exceeded"')) throw new LimitReached();
      if (!OVERLOADED.has(status)) throw new Error(`${status}: ${body}`);
      repeated += 1;
      await sleep(Number(retryAfter) * 1000);
    }
    throw new Error(`still overloaded after ${MOST_REPEATS} repeats`);
  });
  const [row] = await query<{ stored: string }>(
    shop.databaseUrl,
    `select count(*) as stored
       from voucher.redemption
       join voucher.voucher on voucher.project_id = redemption.project_id and voucher.id = redemption.voucher_id
      where voucher.code = '${RACE_CODE}' and redemption.status = 'SUCCEEDED'`,
  );
  return { ...outcomes, repeated, stored: Number(row?.stored) };
}
