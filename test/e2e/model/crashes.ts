import { setTimeout as sleep } from "node:timers/promises";

import fc from "fast-check";

import type { ApiResponse, Api } from "../../stack/api.ts";
import { retryUnavailable } from "../../stack/retry.ts";
import { type Command, hasVouchers, type Model } from "./command.ts";
import type { RealSystem } from "./real-system.ts";
import { redeemBy } from "./redemptions.ts";

/** A restart takes a second or two, so crashes are rare. */
const MAX_CRASHES_PER_RUN = 1;
const MAX_KILL_DELAY_MS = 25;
/** How long a request interrupted by a crash is retried. */
const RETRY_TIMEOUT_MS = 60_000;

/** Kills the process at a random time during a redemption, and retries it with the same idempotency key. */
const redeemThroughCrash = fc.nat({ max: MAX_KILL_DELAY_MS }).chain((delayMs) =>
  redeemBy({
    name: `redeemThroughCrash after ${delayMs} ms `,
    check: (model) => hasVouchers(model) && model.crashes < MAX_CRASHES_PER_RUN,
    send: (model, real, once) => sendThroughCrash(model, { real, once, delayMs }),
  }),
);

async function sendThroughCrash(
  model: Model,
  sending: { real: RealSystem; once: () => Promise<ApiResponse>; delayMs: number },
): Promise<ApiResponse> {
  const { real, once, delayMs } = sending;
  model.crashes += 1;
  const sent = once().catch(() => undefined);
  await sleep(delayMs);
  await real.crash();
  const deadline = Date.now() + RETRY_TIMEOUT_MS;
  for (let response = await sent; ; response = await once().catch(() => undefined)) {
    if (response !== undefined && !isOutage(response)) return response;
    if (Date.now() > deadline) throw new Error(`no response: ${response?.text ?? "no connection"}`);
    await sleep(100);
  }
}

const isOutage = (response: ApiResponse): boolean =>
  response.status >= 500 || isInProgress(response);

const isInProgress = ({ body }: ApiResponse): boolean =>
  ["idempotency_in_progress", "multiple_requests"].includes(body["key"]);

/**
 * A client that retries while the claims of a killed request have not expired, which takes seconds.
 * Requests with the same session conflict with those claims; nothing else here returns these keys.
 */
export const retryingClaimConflicts = (api: Api): Api => ({
  ...api,
  post: (path, body, headers) =>
    retryUnavailable(() => api.post(path, body, headers), isInProgress),
});

export const CRASHES: readonly fc.Arbitrary<Command>[] = [redeemThroughCrash, redeemThroughCrash];
