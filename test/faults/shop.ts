import { setTimeout as sleep } from "node:timers/promises";

import {
  type Api,
  type ApiResponse,
  createApi,
  inParallel,
  newCode,
  serverApi,
} from "../stack/api.ts";
import type { Stack } from "../stack/compositions.ts";
import {
  balanceOf,
  type Card,
  createLoyaltyProgram,
  type LoyaltyProgram,
} from "../stack/loyalty-program.ts";
import { NO_CONNECTION, retryUnavailable } from "../stack/retry.ts";
import { ok } from "../stack/rule-builders.ts";

const CARDS = 24;
/** What a paid order earns. */
export const POINTS = 5;
const CODE = "FAULT";
const POLL_MS = 100;
const SETTLE_TIMEOUT_MS = 300_000;
/** Waiting requests of the load; more are not sent. */
const MAX_IN_FLIGHT = 16;

const TOO_MANY = 429;

/** The requests of a load, those that failed and were repeated included. */
export type LoadResult = {
  readonly requests: number;
  /** Requests that returned no success, those without room on a busy machine left out (429). */
  readonly failures: number;
  /** What was returned instead. */
  readonly errors: ReadonlyMap<string, number>;
};

export type Shop = Disposable & {
  readonly api: Api;
  readonly cards: readonly Card[];
  /** Where requests are sent from now on. */
  readonly sendTo: (url: string) => void;
  /** Pays `count` orders. */
  readonly pay: (count: number) => Promise<void>;
  /** Pays orders at this rate until it is stopped. */
  readonly load: (perSecond: number) => { readonly stop: () => Promise<LoadResult> };
  /** Points that the cards must have. */
  readonly expectedPoints: () => number;
  /** Waits until all cards have exactly the points of what was paid; returns how long it took. */
  readonly settle: () => Promise<number>;
};

/** A programme whose members earn points for each paid order. */
export async function createEarningProgram(api: Api): Promise<LoyaltyProgram> {
  const program = await createLoyaltyProgram(api, { points: 0 });
  const rule = { event: "order.paid", loyalty: { type: "FIXED", points: POINTS }, source: {} };
  // The programme arrives at the loyalty service with an event.
  const path = `/v1/loyalties/${program.campaignId}/earning-rules`;
  await until(async () => (await api.post(path, [rule])).status === 200);
  return program;
}

/** Every second order is paid by a redemption, the others directly. */
export async function openShop(stack: Stack): Promise<Shop> {
  const api = await serverApi(stack);
  const program = await createEarningProgram(api);
  const discount = { type: "AMOUNT", amount_off: 100 };
  await ok(api.post("/v1/vouchers", { code: CODE, type: "DISCOUNT_VOUCHER", discount }));
  const cards = await inParallel([...Array(CARDS).keys()], 4, () => program.createCard());
  const paid = cards.map(() => 0);
  let sender = api;
  let nth = 0;
  const loads = new DisposableStack();

  const payOne = async (onFailure: (response: ApiResponse) => void = () => {}): Promise<void> => {
    const at = (nth += 1);
    const index = at % CARDS;
    const order = { source_id: newCode("order"), amount: 1_000, status: "PAID" };
    const { customer } = cards[index]!;
    const headers = { "idempotency-key": newCode("key") };
    const send = (): Promise<ApiResponse> =>
      Math.floor(at / CARDS) % 2 === 0
        ? sender.post("/v1/orders", { ...order, customer }, headers)
        : sender.post(`/v1/vouchers/${CODE}/redemption`, { order, customer }, headers);
    const sendCounted = async (): Promise<ApiResponse> => {
      const response = await send().catch(() => NO_CONNECTION);
      if (response.status !== 200) onFailure(response);
      return response;
    };
    // Processes that are killed start slowly on a busy machine.
    const final = await retryUnavailable(sendCounted, isInProgress, SETTLE_TIMEOUT_MS);
    if (final.status !== 200) throw new Error(`an order was not paid: ${final.text}`);
    paid[index]! += 1;
  };
  const missing = async (): Promise<readonly string[]> => {
    const balances = await inParallel(cards, 4, (card) => balanceOf(sender, card));
    return balances.flatMap((balance, index) => {
      const expected = paid[index]! * POINTS;
      if (balance > expected) throw new Error(`${balance} points instead of ${expected}`);
      return balance < expected ? [`${balance} points instead of ${expected}`] : [];
    });
  };
  const settle = async (): Promise<number> => {
    const startedAt = performance.now();
    let last: readonly string[] = [];
    await until(
      async () => (last = await missing()).length === 0,
      () => last.join(", "),
    );
    return performance.now() - startedAt;
  };
  return {
    api,
    cards,
    sendTo: (url) => void (sender = createApi(url, api.headers)),
    pay: async (count) => void (await inParallel([...Array(count).keys()], 8, () => payOne())),
    load: (perSecond) => loads.use(startLoad(perSecond, payOne)),
    expectedPoints: () => paid.reduce((sum, count) => sum + count, 0) * POINTS,
    settle,
    [Symbol.dispose]: () => loads.dispose(),
  };
}

const isInProgress = ({ body }: ApiResponse): boolean =>
  body["key"] === "idempotency_in_progress" || body["key"] === "multiple_requests";

function startLoad(
  perSecond: number,
  payOne: (onFailure: (response: ApiResponse) => void) => Promise<void>,
): Disposable & { readonly stop: () => Promise<LoadResult> } {
  const errors = new Map<string, number>();
  const inFlight = new Set<Promise<void>>();
  let requests = 0;
  let failures = 0;
  let broken: unknown;
  const onFailure = ({ status, body, text }: ApiResponse): void => {
    requests += 1;
    if (status !== TOO_MANY) failures += 1;
    const name = `${status} ${body["key"] ?? text.slice(0, 60)}`;
    errors.set(name, (errors.get(name) ?? 0) + 1);
  };
  const startedAt = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1_000) * perSecond;
    for (; sent < due && inFlight.size < MAX_IN_FLIGHT; sent += 1) {
      requests += 1;
      const one = payOne(onFailure).catch((error: unknown) => void (broken ??= error));
      inFlight.add(one);
      void one.then(() => inFlight.delete(one));
    }
  }, 10);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(inFlight);
      if (broken !== undefined) throw broken;
      return { requests, failures, errors };
    },
    // Of an experiment that failed: nothing waits for its requests.
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Waits until the check returns true; requests that fail meanwhile do not count. */
export async function until(
  check: () => Promise<boolean>,
  describe: () => string = () => "",
  timeoutMs = SETTLE_TIMEOUT_MS,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let failure: unknown;
  while (performance.now() < deadline) {
    try {
      if (await check()) return;
      failure = undefined;
    } catch (error) {
      if (error instanceof Error && / points instead of /.test(error.message)) throw error;
      failure = error;
    }
    await sleep(POLL_MS);
  }
  throw new Error(`still waiting after ${timeoutMs / 1_000} s: ${describe()}`, {
    cause: failure,
  });
}
