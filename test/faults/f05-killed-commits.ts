import assert from "node:assert/strict";

import { type ApiResponse, newCode } from "../stack/api.ts";
import { isInProgress, NO_CONNECTION, retryUnavailable } from "../stack/retry.ts";
import { ok } from "../stack/rule-builders.ts";
import { startedAgain } from "./crash.ts";
import type { Fault } from "./fault.ts";
import { proxyIn } from "./installation.ts";

const RUNS = 200;
const SHORT_RUNS = 12;
/** Redemptions that show how many packets one exchanges with the database; the first ones fill caches. */
const COUNTED = 5;
/** Longer than a kill takes. */
const HELD_MS = 10_000;

export const killedCommits: Fault = {
  id: "F05",
  title: "kill -9 at each packet between a redemption with a key and the database",
  criterion: "one effect for each repeated key, whether the kill came before or after the commit",
  inEveryRun: true,
  buses: ["postgres"],
  setup: { proxied: "postgres" },
  async run({ stack, shop: { api }, ...installation }, { full, report }) {
    const proxy = proxyIn(installation);
    const code = newCode("KILLED");
    const discount = { type: "AMOUNT", amount_off: 100 };
    await ok(api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount }));
    const items = ["shirt", "socks"].map((sku) => ({ source_id: sku, quantity: 1, price: 1_000 }));
    const send = (key: string): Promise<ApiResponse> =>
      api
        .post(
          `/v1/vouchers/${code}/redemption`,
          { customer: { source_id: "killed" }, order: { source_id: key, items } },
          { "idempotency-key": key },
        )
        .catch(() => NO_CONNECTION);

    let packets = 0;
    proxy.delay(() => {
      packets += 1;
      return 0;
    });
    for (let redemption = 1; redemption <= COUNTED; redemption += 1) {
      packets = 0;
      assert.equal((await send(newCode("key"))).status, 200);
    }
    /** Sends a request, holds its packet of this number, in either direction, and kills the process then. */
    const killAt = async (number: number, key: string): Promise<ApiResponse> => {
      const held = Promise.withResolvers<void>();
      let seen = 0;
      proxy.delay(() => {
        seen += 1;
        if (seen < number) return 0;
        held.resolve();
        return HELD_MS;
      });
      const sent = send(key);
      // It may need fewer packets than those before it.
      await Promise.race([held.promise, sent]);
      await startedAgain(() => stack.crash(undefined, async () => proxy.delay(() => 0)));
      return sent;
    };

    const counts = { acknowledged: 0, committed: 0, undone: 0 };
    const ids = new Set<string>();
    const runs = Number(process.env["KILLS"] ?? (full ? RUNS : SHORT_RUNS));
    const points = packets;
    for (let run = 0; run < runs; run += 1) {
      // The short form leaves out points, evenly.
      const point = full ? (run % points) + 1 : Math.ceil(((run + 1) * points) / runs);
      const key = newCode("key");
      const first = await killAt(point, key);
      const final = await retryUnavailable(() => send(key), isInProgress);
      assert.equal(final.status, 200, final.text);
      if (first.status === 200) {
        assert.equal(final.text, first.text, "another response for the same key");
        counts.acknowledged += 1;
      } else if (final.headers.has("idempotent-replayed")) counts.committed += 1;
      else counts.undone += 1;
      ids.add(final.body["id"]);
    }
    const { redemption } = await ok(api.get(`/v1/vouchers/${code}`));
    report(
      `${runs} kills at ${Math.min(runs, points)} of ${points} packets: ${counts.undone} not committed, ${counts.committed} committed without a response, ${counts.acknowledged} acknowledged before`,
    );
    assert.equal(ids.size, runs);
    assert.equal(redemption.redeemed_quantity, COUNTED + runs);
    assert.notEqual(counts.undone, 0, "no kill came before a commit");
    if (full)
      assert.notEqual(counts.committed, 0, "no kill came between a commit and its response");
  },
};
