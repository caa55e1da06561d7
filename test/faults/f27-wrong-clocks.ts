import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { type Api, newCode, serverApi } from "../stack/api.ts";
import { SERVICES, type Stack } from "../stack/compositions.ts";
import { ok } from "../stack/rule-builders.ts";
import type { Fault } from "./fault.ts";
import { clocksIn } from "./installation.ts";
import { describeLoad, PER_SECOND } from "./load.ts";

const HOUR_S = 3_600;
const HALF_AN_HOUR_MS = 1_800_000;
const SESSION_MS = 1_500;
const JUMPS = 5;
const JUMP_S = 2;

export const wrongClocks: Fault = {
  id: "F27",
  title: "The clock of one service after the other is an hour wrong, then jumps back by 2 s",
  criterion: "dates, sessions and tokens end when they do with right clocks; no request fails",
  inEveryRun: false,
  buses: ["postgres"],
  setup: { composition: "distributed", clocks: true },
  async run(installation, { report }) {
    const { stack, shop } = installation;
    const clocks = clocksIn(installation);
    const codes = await createVouchers(shop.api);
    const expected = await decisions(stack, codes);
    report(`with right clocks: ${expected.join(", ")}`);
    for (const name of [...SERVICES, "gateway"] as const) {
      for (const seconds of [HOUR_S, -HOUR_S]) {
        clocks.set(name, seconds);
        await stack.crash(name === "gateway" ? undefined : name);
        assert.deepEqual(await decisions(stack, codes), expected, `${name}: ${seconds} s`);
      }
      const load = shop.load(PER_SECOND);
      for (let jump = 1; jump <= JUMPS; jump += 1) {
        await sleep(1_000);
        clocks.set(name, -HOUR_S - jump * JUMP_S);
      }
      const result = await load.stop();
      report(`${name}: ${describeLoad(result)}`);
      assert(result.failures === 0, `${name}: requests failed`);
      assert.deepEqual(await decisions(stack, codes), expected, `${name}: after jumps`);
      await assertNoNegativeDurations(stack);
      clocks.set(name, 0);
    }
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
  },
};

type Codes = Readonly<Record<"past" | "present" | "future", string>>;

/** Vouchers that are over, valid and not yet valid, each by half an hour. */
async function createVouchers(api: Api): Promise<Codes> {
  const discount = { type: "AMOUNT", amount_off: 100 };
  const at = (difference: number): string => new Date(Date.now() + difference).toISOString();
  const create = async (dates: Readonly<Record<string, string>>): Promise<string> => {
    const code = newCode("clock");
    await ok(api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount, ...dates }));
    return code;
  };
  return {
    past: await create({ expiration_date: at(-HALF_AN_HOUR_MS) }),
    present: await create({
      start_date: at(-HALF_AN_HOUR_MS),
      expiration_date: at(HALF_AN_HOUR_MS),
    }),
    future: await create({ start_date: at(HALF_AN_HOUR_MS) }),
  };
}

/** What a new token, each voucher and a session are worth now. */
async function decisions(stack: Stack, codes: Codes): Promise<readonly string[]> {
  const api = await serverApi(stack);
  const results: string[] = [];
  for (const [name, code] of Object.entries(codes)) {
    const { status, body } = await api.post(`/v1/vouchers/${code}/validate`, {});
    results.push(`${name} ${status} ${body["valid"] ?? body["key"]} ${body["error"]?.key ?? ""}`);
  }
  return [...results, ...(await lockAndWait(api))];
}

/** The last use of a voucher: locked, refused to another session, and free after the session. */
async function lockAndWait(api: Api): Promise<readonly string[]> {
  const code = newCode("session");
  const discount = { type: "AMOUNT", amount_off: 100 };
  const redemption = { quantity: 1 };
  await ok(api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount, redemption }));
  const lock = async (key: string): Promise<string> => {
    const { status, body } = await api.post("/v1/validations", {
      redeemables: [{ object: "voucher", id: code }],
      order: { amount: 1_000 },
      session: { type: "LOCK", key, ttl: SESSION_MS, ttl_unit: "MILLISECONDS" },
    });
    return `${status} ${body["valid"]}`;
  };
  const first = await lock(newCode("one"));
  const second = await lock(newCode("two"));
  await sleep(SESSION_MS + 200);
  return [`lock ${first}`, `locked ${second}`, `after it ${await lock(newCode("three"))}`];
}

async function assertNoNegativeDurations({ metrics }: Stack): Promise<void> {
  for (const url of Object.values(metrics)) {
    const text = await (await fetch(url)).text();
    const negative = text.split("\n").filter((line) => /_sum(?:\{.*\})? -/.test(line));
    assert.deepEqual(negative, [], url);
  }
}
