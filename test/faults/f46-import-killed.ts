import assert from "node:assert/strict";

import { type Json, newCode } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import { uploadTo } from "../stack/uploads.ts";
import { startedAgain } from "./crash.ts";
import type { Fault } from "./fault.ts";
import { describeLoad, PER_SECOND } from "./load.ts";
import { until } from "./shop.ts";

const ROWS = 10_000;
const FULL_ROWS = 100_000;
const BAD_EVERY = 100;
/** Remainder of the rows that repeat the code of the row before. */
const REPEATED = 50;
/** Parts of the file after which the process is killed. */
const KILLS = [0.25, 0.5];

export const importKilled: Fault = {
  id: "F46",
  title:
    "An import with 1 % bad dates and 1 % repeated codes is killed twice while orders are paid",
  criterion: "each valid code is imported once, and each bad row is named",
  inEveryRun: true,
  buses: ["postgres"],
  async run({ stack, shop }, { full, report }) {
    const { api } = shop;
    const rows = full ? FULL_ROWS : ROWS;
    const { id } = await ok(
      api.post("/v1/campaigns", {
        name: newCode("import"),
        vouchers_count: 0,
        campaign_type: "DISCOUNT_COUPONS",
        voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "PERCENT", percent_off: 10 } },
      }),
    );
    const prefix = newCode("K");
    const lines = Array.from({ length: rows }, (_, index) => {
      const row = index + 1;
      const code = `${prefix}-${row % BAD_EVERY === REPEATED ? row - 1 : row}`;
      return `${code},${row % BAD_EVERY === 0 ? "yesterday" : "2099-01-01"}`;
    });
    const csv = `Code,Expiration Date\n${lines.join("\n")}`;
    const load = shop.load(PER_SECOND);
    const started = await uploadTo({ url: stack.url, api }, `/v1/campaigns/${id}/importCSV`, {
      csv,
      headers: {},
    });
    assert(started.status === 200, started.text);
    const read = (): Promise<Json> =>
      ok(api.get(`/v1/async-actions/${started.body["async_action_id"]}`));
    const done = ({ processed, failed }: Json): number => Number(processed) + Number(failed);
    let last: Json = {};
    for (const part of KILLS) {
      await until(async () => done((last = await read())) >= rows * part);
      assert(last["status"] !== "DONE", "the import ended before it was killed");
      report(`killed after ${done(last)} rows`);
      await startedAgain(() => stack.crash());
    }
    await until(async () => (last = await read())["status"] === "DONE");
    report(describeLoad(await load.stop()));
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
    report(last["result"].message);
    const bad = Array.from({ length: rows / BAD_EVERY }, (_, at) => (at + 1) * BAD_EVERY);
    assert.deepEqual(
      [last["total"], last["result"].done_count, last["result"].failed_count],
      [rows, rows - bad.length, bad.length],
    );
    const named = (last["result"].failed as readonly Json[]).map(({ row }) => row);
    assert.deepEqual(named, bad.slice(0, named.length));
    const valid = rows - 2 * bad.length;
    const list = await ok(api.get(`/v1/vouchers?campaign_id=${id}&limit=1`));
    const campaign = await ok(api.get(`/v1/campaigns/${id}`));
    assert.deepEqual([list["total"], campaign["vouchers_count"]], [valid, valid]);
  },
};
