import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { type Api, type ApiResponse, newCode } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";

const PAUSE_MS = 100;

/** Ends its requests also when an experiment fails. */
export type SteadyLoad = Disposable & {
  /** Names what happens from now on, for reports of requests that fail. */
  readonly name: (phase: string) => void;
  /** Throws when a request failed, or a redemption was lost or doubled. */
  readonly stop: () => Promise<void>;
};

/** Requests without idempotency keys, which would allow repetitions; none may fail. */
export async function startSteadyLoad(
  api: Api,
  report: (line: string) => void,
): Promise<SteadyLoad> {
  const voucher = await ok(
    api.post("/v1/vouchers", {
      type: "DISCOUNT_VOUCHER",
      discount: { type: "PERCENT", percent_off: 10 },
      redemption: { quantity: null },
    }),
  );
  const path = `/v1/vouchers/${voucher["code"]}`;
  const order = { amount: 10_000 };
  const requests = {
    redeem: () => api.post(`${path}/redemption`, { order }),
    validate: () => api.post(`${path}/validate`, { order }),
    list: () => api.get("/v1/campaigns"),
    create: () => api.post("/v1/customers", { source_id: newCode("customer") }),
  };
  const counts = { sent: 0, redeemed: 0, failed: 0, failedRedemptions: 0, reconnected: 0 };
  let phase = "";
  const done = new AbortController();
  /** As any client does when a server has closed a connection that it kept open. */
  const send = (request: () => Promise<ApiResponse>): Promise<ApiResponse> =>
    request().catch(() => {
      counts.reconnected += 1;
      return request();
    });
  const lanes = Object.entries(requests).map(async ([name, request]) => {
    while (!done.signal.aborted) {
      const startedIn = phase;
      const { status, text } = await send(request).catch((error: unknown) => ({
        status: 0,
        text: String(error),
      }));
      counts.sent += 1;
      if (status !== 200) {
        counts.failed += 1;
        if (name === "redeem") counts.failedRedemptions += 1;
        report(`${startedIn}: ${name} ${status} ${text}`);
      } else if (name === "redeem") counts.redeemed += 1;
      await sleep(PAUSE_MS);
    }
  });
  return {
    name: (next) => void (phase = next),
    [Symbol.dispose]: () => done.abort(),
    async stop() {
      done.abort();
      await Promise.all(lanes);
      const { sent, redeemed, failed, failedRedemptions, reconnected } = counts;
      report(`${sent} requests, ${failed} failed, ${reconnected} sent again on a new connection`);
      const { redemption } = await ok(api.get(path));
      // One without a response may have been executed.
      const unexplained = redemption.redeemed_quantity - redeemed;
      assert(
        unexplained >= 0 && unexplained <= failedRedemptions,
        "redemptions were lost or doubled",
      );
      assert(failed === 0, "requests failed");
    },
  };
}
