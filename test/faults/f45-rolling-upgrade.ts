import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { type Api, newCode } from "../stack/api.ts";
import { SERVICES } from "../stack/compositions.ts";
import { ROOT } from "../stack/process.ts";
import { ok } from "../stack/rule-builders.ts";
import type { Fault } from "./fault.ts";
import { describeLoad, PER_SECOND } from "./load.ts";
import { checkOutPreviousRelease, type Release } from "./previous-release.ts";
import { until } from "./shop.ts";
import { startSteadyLoad } from "./steady-load.ts";

const run = promisify(execFile);

/** Of the database that is migrated; VOUCHERS=1000000 are those of the plan. */
const VOUCHERS = Number(process.env["VOUCHERS"] ?? 100_000);
/** 500 per second: a machine that other programs use generates fewer than an idle one. */
const GENERATION_TIMEOUT_MS = 60_000 + VOUCHERS * 2;
/** Longer than callers take to find a replica that is back. */
const CALM_MS = 2_500;
/** Callees first. */
const NAMES = [...SERVICES, "gateway"] as const;

let previous: Release | undefined;
let folder = ROOT;

export const rollingUpgrade: Fault = {
  id: "F45",
  title: "The previous release is upgraded under load, and its processes return afterwards",
  criterion: "no request fails, also while both releases run; the books are exact",
  inEveryRun: false,
  buses: ["postgres"],
  setup() {
    previous = checkOutPreviousRelease();
    folder = previous.folder;
    return { composition: "distributed", replicas: 2, checkout: () => folder };
  },
  async run({ stack, shop }, { report }) {
    assert(previous !== undefined);
    report(`from ${previous.revision}`);
    report(await generateGiftCards(shop.api));
    const load = shop.load(PER_SECOND);
    using steady = await startSteadyLoad(shop.api, report);
    steady.name("migrations");
    const migrated = await migrate(stack.databaseUrl);
    report(migrated);
    for (const [release, next] of [
      ["the new release", ROOT],
      ["the previous release", previous.folder],
    ] as const) {
      folder = next;
      for (const name of NAMES) {
        steady.name(`${name} of ${release} starts`);
        await stack.restart(name);
        await sleep(CALM_MS);
      }
    }
    const result = await load.stop();
    report(`with keys: ${describeLoad(result)}`);
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
    await steady.stop();
    assert(result.failures === 0, "requests failed");
  },
};

/** Gift cards: each has an entry in the ledger, so migrations of either table have rows to change. */
async function generateGiftCards(api: Api): Promise<string> {
  const startedAt = performance.now();
  const campaign = await ok(
    api.post("/v1/campaigns", {
      name: newCode("data"),
      campaign_type: "GIFT_VOUCHERS",
      vouchers_count: VOUCHERS,
      voucher: { type: "GIFT_VOUCHER", gift: { amount: 10_000 } },
    }),
  );
  let state = campaign;
  await until(
    async () => {
      state = await ok(api.get(`/v1/campaigns/${campaign["id"]}`));
      return state["vouchers_generation_status"] === "DONE";
    },
    () => `${state["vouchers_count"]} of ${VOUCHERS} vouchers`,
    GENERATION_TIMEOUT_MS,
  );
  return `${VOUCHERS} vouchers generated in ${seconds(startedAt)} s`;
}

/** With the code of this checkout, while processes of the previous release run. */
async function migrate(url: string): Promise<string> {
  const startedAt = performance.now();
  const env = { PATH: process.env["PATH"], DATABASE_URL: url };
  const cli = path.join(ROOT, "cli/src/main.ts");
  const { stdout } = await run(process.execPath, [cli, "migrate", "--json"], { env });
  const applied = JSON.parse(stdout) as readonly unknown[];
  return `${applied.length} migrations in ${seconds(startedAt)} s`;
}

const seconds = (startedAt: number): string => ((performance.now() - startedAt) / 1_000).toFixed(1);
