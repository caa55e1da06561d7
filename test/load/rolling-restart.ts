import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { testRedis } from "@scrip/testing";

import { serverApi } from "../stack/api.ts";
import { SERVICES, startComposition } from "../stack/compositions.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { openBenchDatabase } from "./postgres.ts";
import { table } from "./table.ts";

/**
 * Restarts each replica of each service and of the gateway, one after the other, while redemptions and validations run,
 * kills Redis meanwhile, and counts failed requests (README.md#rolling-restarts).
 */
const { values: options } = parseArgs({
  options: {
    /** Requests per second. */
    rate: { type: "string", default: "40" },
    rounds: { type: "string", default: "1" },
  },
});
const PAUSE_MS = 1_000;

const folder = await mkdtemp(path.join(tmpdir(), "scrip-rolling-"));
try {
  await using postgres = await openBenchDatabase(path.join(folder, "postgres"));
  await using redis = await testRedis();
  const url = await postgres.create("rolling");
  await using stack = await startComposition("distributed", {
    database: { url, [Symbol.asyncDispose]: async () => {} },
    replicas: 2,
    env: {
      SCRIP_REDIS_URL: redis.url,
      SCRIP_LOG_LEVEL: "warn",
      SCRIP_LIMIT_CALLS_PER_MINUTE: "1000000",
    },
  });
  const api = await serverApi(stack);
  const created = await api.post("/v1/vouchers", {
    code: "ROLLING",
    type: "DISCOUNT_VOUCHER",
    discount: { type: "PERCENT", percent_off: 10 },
    redemption: { quantity: null },
  });
  if (created.status !== 200) throw new Error(created.text);

  let phase = "";
  const phases = new Map<string, Map<string, number>>();
  const slowest = new Map<string, number>();
  const count = (outcome: string, ms: number): void => {
    const counts = phases.get(phase) ?? new Map<string, number>();
    phases.set(phase, counts);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    slowest.set(phase, Math.max(slowest.get(phase) ?? 0, ms));
  };
  let redeemed = 0;
  const request = async (number: number): Promise<void> => {
    const start = performance.now();
    const isRedemption = number % 2 === 0;
    const action = isRedemption ? "redemption" : "validate";
    const send = () =>
      api.post(
        `/v1/vouchers/ROLLING/${action}`,
        { order: { amount: 10_000 } },
        isRedemption ? { "idempotency-key": `rolling-${number}` } : {},
      );
    try {
      // A connection that ends while it is idle is repeated once, as HTTP clients do.
      const { status, text } = await send().catch(send);
      if (status === 200 && isRedemption) redeemed += 1;
      count(status === 200 ? "200" : `${status} ${text.slice(0, 200)}`, performance.now() - start);
    } catch (error) {
      count(String((error as Error).cause ?? error), performance.now() - start);
    }
  };

  const done = new AbortController();
  const requests: Promise<void>[] = [];
  const load = (async () => {
    for (let number = 0; !done.signal.aborted; number += 1) {
      requests.push(request(number));
      await sleep(1_000 / Number(options.rate));
    }
    await Promise.all(requests);
  })();
  const run = async (name: string, work: () => Promise<void>): Promise<void> => {
    phase = name;
    process.stderr.write(`${name}\n`);
    await work();
    await sleep(PAUSE_MS);
  };
  await run("undisturbed", () => sleep(5_000));
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const name of [...SERVICES, "gateway"] as const) {
      await run(`restart of ${name}`, () => stack.restart(name));
    }
    await run("Redis killed", async () => {
      await redis.kill();
      await sleep(5_000);
    });
    await run("Redis back, empty", async () => {
      await redis.restart();
      await sleep(3_000);
    });
  }
  done.abort();
  await load;

  const rows = [...phases].map(([name, counts]) => [
    name,
    [...counts].map(([outcome, times]) => `${times} × ${outcome}`).join(", "),
    `${(slowest.get(name) ?? 0).toFixed(0)} ms`,
  ]);
  process.stdout.write(table(["phase", "responses", "slowest"], rows));
  const { body } = await api.get("/v1/vouchers/ROLLING");
  const stored = body["redemption"]["redeemed_quantity"] as number;
  const violations = await invariantViolations(stack);
  console.log(`${redeemed} redemptions were successful, ${stored} are stored`);
  console.log(violations.length === 0 ? "all invariants hold" : violations.join("\n"));
  const failed = [...phases.values()].some((counts) =>
    [...counts.keys()].some((key) => key !== "200"),
  );
  if (failed || redeemed !== stored || violations.length > 0) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
