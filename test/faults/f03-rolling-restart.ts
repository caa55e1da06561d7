import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { newCode } from "../stack/api.ts";
import { SERVICES } from "../stack/compositions.ts";
import type { Fault } from "./fault.ts";

const PAUSE_MS = 100;
/** Longer than callers take to find a replica that is back. */
const CALM_MS = 2_500;
const ROUNDS = 3;

export const rollingRestart: Fault = {
  id: "F03",
  title: "Both processes of each service are restarted in turn under requests",
  criterion: "no request fails, and none is executed twice",
  inEveryRun: true,
  buses: ["postgres"],
  setup: { composition: "distributed", replicas: 2 },
  async run({ stack, shop: { api } }, { full, report }) {
    const { body: voucher } = await api.post("/v1/vouchers", {
      type: "DISCOUNT_VOUCHER",
      discount: { type: "PERCENT", percent_off: 10 },
      redemption: { quantity: null },
    });
    const order = { amount: 10_000 };
    const send = {
      // Without an idempotency key, which would allow repetitions.
      redeem: () => api.post(`/v1/vouchers/${voucher["code"]}/redemption`, { order }),
      validate: () => api.post(`/v1/vouchers/${voucher["code"]}/validate`, { order }),
      list: () => api.get("/v1/campaigns"),
      create: () => api.post("/v1/customers", { source_id: newCode("customer") }),
    };
    const counts = { sent: 0, redeemed: 0, failed: 0 };
    let phase = "";
    const done = new AbortController();
    const load = Object.entries(send).map(async ([name, request]) => {
      while (!done.signal.aborted) {
        const startedIn = phase;
        const { status, text } = await request();
        counts.sent += 1;
        if (status !== 200) {
          counts.failed += 1;
          report(`restart of ${startedIn}: ${name} ${status} ${text}`);
        } else if (name === "redeem") counts.redeemed += 1;
        await sleep(PAUSE_MS);
      }
    });
    for (let round = 0; round < (full ? ROUNDS : 1); round += 1) {
      for (const name of SERVICES) {
        phase = name;
        await stack.restart(name);
        await sleep(CALM_MS);
      }
    }
    done.abort();
    await Promise.all(load);
    report(`${counts.sent} requests, ${counts.failed} failed`);
    const { body } = await api.get(`/v1/vouchers/${voucher["code"]}`);
    assert(counts.failed === 0, "requests failed");
    assert(
      body["redemption"].redeemed_quantity === counts.redeemed,
      "redemptions were lost or doubled",
    );
  },
};
