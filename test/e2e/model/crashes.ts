import { setTimeout as sleep } from "node:timers/promises";

import fc from "fast-check";

import type { Answer, Api } from "../../stack/api.ts";
import { untilAnswered } from "../../stack/insist.ts";
import { type Command, hasVouchers, type Model } from "./command.ts";
import type { Product } from "./product.ts";
import { redeemBy } from "./redemptions.ts";

/** A restart takes a second or two. */
const MOST_CRASHES_IN_A_RUN = 1;
const LATEST_KILL_MS = 25;
/** A request that met a crash is sent again for this long. */
const PATIENCE_MS = 60_000;

/** Killed at a random moment of the redemption, which is repeated under its key. */
const redeemThroughCrash = fc.nat({ max: LATEST_KILL_MS }).chain((delayMs) =>
  redeemBy({
    name: `redeemThroughCrash after ${delayMs} ms `,
    check: (model) => hasVouchers(model) && model.crashes < MOST_CRASHES_IN_A_RUN,
    send: (model, real, once) => sendThroughCrash(model, { real, once, delayMs }),
  }),
);

async function sendThroughCrash(
  model: Model,
  sending: { real: Product; once: () => Promise<Answer>; delayMs: number },
): Promise<Answer> {
  const { real, once, delayMs } = sending;
  model.crashes += 1;
  const sent = once().catch(() => undefined);
  await sleep(delayMs);
  await real.crash();
  const deadline = Date.now() + PATIENCE_MS;
  for (let answer = await sent; ; answer = await once().catch(() => undefined)) {
    if (answer !== undefined && !isOutage(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`no answer: ${answer?.text ?? "no connection"}`);
    await sleep(100);
  }
}

const isOutage = (answer: Answer): boolean => answer.status >= 500 || isUnderWay(answer);

const isUnderWay = ({ body }: Answer): boolean =>
  ["idempotency_in_progress", "multiple_requests"].includes(body["key"]);

/**
 * One who waits until the claims of a request that died are over, which takes seconds: they meet
 * any request that names the same session, and nothing else here is answered so.
 */
export const patientWithClaims = (api: Api): Api => ({
  ...api,
  post: (path, body, headers) => untilAnswered(() => api.post(path, body, headers), isUnderWay),
});

export const CRASHES: readonly fc.Arbitrary<Command>[] = [redeemThroughCrash, redeemThroughCrash];
