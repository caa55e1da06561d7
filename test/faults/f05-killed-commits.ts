import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { type ApiResponse, newCode } from "../stack/api.ts";
import { isInProgress, NO_CONNECTION, retryUnavailable } from "../stack/retry.ts";
import { ok } from "../stack/rule-builders.ts";
import { startedAgain } from "./crash.ts";
import type { Fault } from "./fault.ts";

const RUNS = 200;
const SHORT_RUNS = 8;
/** Requests in progress at a kill. */
const AT_ONCE = 8;

export const killedCommits: Fault = {
  id: "F05",
  title: "kill -9 at a random time of the commit of redemptions with keys",
  criterion: "one effect for each repeated key, whether the kill came before or after the commit",
  inEveryRun: true,
  buses: ["postgres"],
  async run({ stack, shop: { api } }, { full, random, report }) {
    const code = newCode("KILLED");
    const discount = { type: "AMOUNT", amount_off: 100 };
    await ok(api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount }));
    const send = (key: string): Promise<ApiResponse> =>
      api
        .post(
          `/v1/vouchers/${code}/redemption`,
          { order: { amount: 1_000 } },
          { "idempotency-key": key },
        )
        .catch(() => NO_CONNECTION);
    const counts = { acknowledged: 0, committed: 0, undone: 0 };
    const ids = new Set<string>();
    const runs = full ? RUNS : SHORT_RUNS;
    for (let run = 0; run < runs; run += 1) {
      // A kill falls into the time that requests have just taken, and more often into its beginning.
      const warmAt = performance.now();
      await Promise.all(Array.from({ length: AT_ONCE }, () => api.get(`/v1/vouchers/${code}`)));
      const longestMs = (performance.now() - warmAt) * 3;
      const keys = Array.from({ length: AT_ONCE }, () => newCode("key"));
      const sent = keys.map(send);
      await sleep(random() ** 2 * longestMs);
      await startedAgain(() => stack.crash());
      const first = await Promise.all(sent);
      for (const [at, key] of keys.entries()) {
        const final = await retryUnavailable(() => send(key), isInProgress);
        assert.equal(final.status, 200, final.text);
        if (first[at]!.status === 200) {
          assert.equal(final.text, first[at]!.text, "another response for the same key");
          counts.acknowledged += 1;
        } else if (final.headers.has("idempotent-replayed")) counts.committed += 1;
        else counts.undone += 1;
        ids.add(final.body["id"]);
      }
    }
    const { redemption } = await ok(api.get(`/v1/vouchers/${code}`));
    report(
      `${runs} kills, ${runs * AT_ONCE} keys: ${counts.acknowledged} acknowledged before, ${counts.committed} committed without a response, ${counts.undone} not committed`,
    );
    assert.equal(ids.size, runs * AT_ONCE);
    assert.equal(redemption.redeemed_quantity, runs * AT_ONCE);
  },
};
