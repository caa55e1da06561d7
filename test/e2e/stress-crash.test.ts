import { setTimeout as sleep } from "node:timers/promises";

import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";

import { inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { postWithRetry } from "../stack/retry.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, type ServiceName, startStack } from "../stack/stack.ts";

/** Every run sends the same requests; STRESS_SEED=$RANDOM sends others. */
const SEED = Number(process.env["STRESS_SEED"] ?? 20_261_121);
const CLIENTS = 32;
const REQUESTS = 160;
const CREDITS = 5_000;
const QUANTITY = 40;
/** Number of responses before the first kill, and between kills. */
const KILL_EVERY = 40;

/** Processes that are killed one after the other while requests are in progress. */
const VICTIMS: Readonly<Record<string, readonly (ServiceName | undefined)[]>> = {
  standalone: [undefined, undefined],
  distributed: ["voucher", "validation", undefined],
};

const LOSSES: ReadonlySet<string> = new Set(["400 quantity_exceeded", "400 gift_amount_exceeded"]);

const wish = fc.record({
  picks: fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 1, maxLength: 5 }),
  amount: fc.integer({ min: 500, max: 2_000 }),
  back: fc.boolean(),
});

describe.each(COMPOSITIONS)("kill -9 during stacked redemptions (%s)", async (composition) => {
  const stack = await startStack(composition);
  afterAll(() => stack[Symbol.asyncDispose]());
  const api = await serverApi(stack);

  test("loses no acknowledged redemption, and redeems nothing twice", async () => {
    const coupons = await inParallel([1, 2, 3], 1, () =>
      given({
        type: "DISCOUNT_VOUCHER",
        discount: { type: "AMOUNT", amount_off: 10 },
        redemption: { quantity: QUANTITY },
      }),
    );
    const gifts = await inParallel([1, 2, 3], 1, () =>
      given({ type: "GIFT_VOUCHER", gift: { amount: CREDITS } }),
    );
    const codes = [...coupons, ...gifts];
    const wishes = fc.sample(wish, { seed: SEED, numRuns: REQUESTS });

    const load = { answered: 0, over: false };
    const kill = async (): Promise<void> => {
      for (const [nth, victim] of (VICTIMS[composition] ?? []).entries()) {
        while (load.answered < (nth + 1) * KILL_EVERY && !load.over) await sleep(5);
        await stack.crash(victim);
      }
    };
    const redeemAll = inParallel(wishes, CLIENTS, async ({ picks, amount, back }) => {
      const redeemables = picks.map((at) => ({ object: "voucher", id: codes[at]! }));
      const order = { amount };
      const answer = await postWithRetry(api, "/v1/redemptions", { redeemables, order });
      load.answered += 1;
      if (answer.status !== 200) return { answer, parts: [] };
      const parts = answer.body["redemptions"] as readonly Json[];
      if (!back) return { answer, parts };
      const whole = answer.body["parent_redemption"] ?? parts[0];
      const undone = await postWithRetry(api, `/v1/redemptions/${whole["id"]}/rollbacks`);
      expect(undone.status, undone.text).toBe(200);
      return { answer, parts: [] };
    }).finally(() => (load.over = true));
    const [outcomes] = await Promise.all([redeemAll, kill()]);

    const said = `STRESS_SEED=${SEED}`;
    const refusals = outcomes.flatMap(({ answer: { status, body } }) =>
      status === 200 ? [] : `${status} ${body["key"]}`,
    );
    expect(
      refusals.filter((refusal) => !LOSSES.has(refusal)),
      said,
    ).toEqual([]);
    const parts = outcomes.flatMap((outcome) => outcome.parts);
    for (const code of codes) {
      const own = parts.filter(({ voucher }) => voucher.code === code);
      const voucher = await ok(api.get(`/v1/vouchers/${code}`));
      expect(voucher["redemption"].redeemed_quantity, said).toBe(own.length);
      if (voucher["gift"] === null) continue;
      const spent = own.reduce((sum, { amount }) => sum + (amount as number), 0);
      expect(voucher["gift"].balance, said).toBe(CREDITS - spent);
    }
    expect(await invariantViolations(stack), said).toEqual([]);
  }, 300_000);

  async function given(voucher: Json): Promise<string> {
    const code = newCode("CRASH");
    await ok(api.post("/v1/vouchers", { code, ...voucher }));
    return code;
  }
});
