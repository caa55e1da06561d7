import assert from "node:assert/strict";

import { ok } from "../stack/rule-builders.ts";
import type { Fault } from "./fault.ts";
import { describeLoad, PER_SECOND } from "./load.ts";
import { countOf, describeProbes, probe } from "./probes.ts";

const LOAD_MS = 300_000;
const CLIENTS = 128;
const CODES = 30;

export const smallHeap: Fault = {
  id: "F31",
  title: "A heap of 192 MiB under more requests than it can serve",
  criterion: "no process ends; requests succeed or get 429 or 503",
  inEveryRun: false,
  buses: ["postgres"],
  setup: { nodeArgs: ["--max-old-space-size=192"] },
  async run({ stack, shop }, { report }) {
    const pids = stack.pids();
    const discount = { type: "PERCENT", percent_off: 1 };
    const codes = Array.from({ length: CODES }, (_, at) => `HEAP-${at}`);
    for (const code of codes)
      await ok(shop.api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount }));
    const body = {
      order: {
        items: Array.from({ length: 100 }, (_, at) => ({
          source_id: `sku-${at}`,
          price: 100,
          quantity: 1,
        })),
      },
      redeemables: codes.map((id) => ({ object: "voucher", id })),
    };
    const load = shop.load(2 * PER_SECOND);
    const probes = await probe(LOAD_MS, CLIENTS, () => shop.api.post("/v1/validations", body));
    const result = await load.stop();
    report(`validations: ${describeProbes(probes)}`);
    report(describeLoad(result));
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
    assert.deepEqual(stack.pids(), pids, "a process has ended");
    assert(countOf(probes, 200) > 0, "no request succeeded");
    assert(countOf(probes, 200, 429, 503) === probes.count, "a request got another response");
  },
};
