import { setTimeout as sleep } from "node:timers/promises";

import fc from "fast-check";
import { describe, test } from "vitest";

import { inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { postWithRetry } from "../stack/retry.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, type ServiceName, crashableStacks } from "../stack/stack.ts";

/** Every run sends the same requests; STRESS_SEED=$RANDOM sends others. */
const SEED = Number(process.env["STRESS_SEED"] ?? 20_261_121);
const CLIENTS = 32;
const REQUESTS = 160;
const CREDITS = 5_000;
const QUANTITY = 40;
const REFEREES = 20;
const REFEREE_CREDITS = 5;
const REFERRER_POINTS = 3;
/** A reward that a killed process had taken is paid by another one half a minute later. */
const PAYMENTS_TIMEOUT_MS = 90_000;
/** Number of responses before the first kill, and between kills. */
const KILL_EVERY = 40;

/** Processes that are killed one after the other while requests are in progress. */
const KILLED_SERVICES: Readonly<Record<string, readonly (ServiceName | undefined)[]>> = {
  standalone: [undefined, undefined],
  distributed: ["voucher", "validation", undefined],
};

const CONFLICT_KEYS: ReadonlySet<string> = new Set([
  "400 quantity_exceeded",
  "400 gift_amount_exceeded",
]);

const requestArbitrary = fc.record({
  picks: fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 1, maxLength: 5 }),
  amount: fc.integer({ min: 500, max: 2_000 }),
  back: fc.boolean(),
});

// Both at the same time: they mostly wait for processes to start and for retries.
const stacks = crashableStacks();
describe.concurrent.each(COMPOSITIONS)(
  "kill -9 during stacked redemptions (%s)",
  async (composition) => {
    const stack = await stacks[composition];
    const api = await serverApi(stack);

    test("loses no acknowledged redemption, redeems nothing twice, and pays each referral reward once", async ({
      expect,
    }) => {
      const referrals = await createReferrals();
      const coupons = await inParallel([1, 2, 3], 1, () =>
        createVoucher({
          type: "DISCOUNT_VOUCHER",
          discount: { type: "AMOUNT", amount_off: 10 },
          redemption: { quantity: QUANTITY },
        }),
      );
      const gifts = await inParallel([1, 2, 3], 1, () =>
        createVoucher({ type: "GIFT_VOUCHER", gift: { amount: CREDITS } }),
      );
      const codes = [...coupons, ...gifts];
      const requests = fc.sample(requestArbitrary, { seed: SEED, numRuns: REQUESTS });

      const load = { responses: 0, done: false };
      const kill = async (): Promise<void> => {
        for (const [nth, service] of (KILLED_SERVICES[composition] ?? []).entries()) {
          while (load.responses < (nth + 1) * KILL_EVERY && !load.done) await sleep(5);
          await stack.crash(service);
        }
      };
      const redeemAll = inParallel(requests, CLIENTS, async ({ picks, amount, back }) => {
        const redeemables = picks.map((at) => ({ object: "voucher", id: codes[at]! }));
        const order = { amount };
        const response = await postWithRetry(api, "/v1/redemptions", { redeemables, order });
        load.responses += 1;
        if (response.status !== 200) return { response, parts: [] };
        const parts = response.body["redemptions"] as readonly Json[];
        if (!back) return { response, parts };
        const orderRedemption = response.body["parent_redemption"] ?? parts[0];
        const rollback = await postWithRetry(
          api,
          `/v1/redemptions/${orderRedemption["id"]}/rollbacks`,
        );
        expect(rollback.status, rollback.text).toBe(200);
        return { response, parts: [] };
      }).finally(() => (load.done = true));
      const [outcomes] = await Promise.all([redeemAll, kill(), referrals.convert()]);

      const seedMessage = `STRESS_SEED=${SEED}`;
      const rejections = outcomes.flatMap(({ response: { status, body } }) =>
        status === 200 ? [] : `${status} ${body["key"]}`,
      );
      expect(
        rejections.filter((rejection) => !CONFLICT_KEYS.has(rejection)),
        seedMessage,
      ).toEqual([]);
      const parts = outcomes.flatMap((outcome) => outcome.parts);
      for (const code of codes) {
        const own = parts.filter(({ voucher }) => voucher.code === code);
        const voucher = await ok(api.get(`/v1/vouchers/${code}`));
        expect(voucher["redemption"].redeemed_quantity, seedMessage).toBe(own.length);
        if (voucher["gift"] === null) continue;
        const spent = own.reduce((sum, { amount }) => sum + (amount as number), 0);
        expect(voucher["gift"].balance, seedMessage).toBe(CREDITS - spent);
      }
      const paid = Array.from({ length: REFEREES }, () => [REFEREE_CREDITS, REFERRER_POINTS]);
      await expect
        .poll(() => referrals.payments(), { timeout: PAYMENTS_TIMEOUT_MS, message: seedMessage })
        .toEqual(paid);
      expect(await invariantViolations(stack), seedMessage).toEqual([]);
    }, 300_000);

    /** A referral code whose conversions pay credits to referees and points to its referrer. */
    async function createReferrals() {
      const campaign = (body: Json): Promise<Json> =>
        ok(api.post("/v1/campaigns", { name: newCode("crash"), type: "AUTO_UPDATE", ...body }));
      const credits = await campaign({ voucher: { type: "GIFT_VOUCHER", gift: { amount: 1 } } });
      const points = await campaign({
        voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 0 } },
      });
      const rewardOf = ({ id }: Json, type: string, amount: number): Json => ({
        related_object_parent: { id },
        type,
        amount,
      });
      const program = await campaign({
        campaign_type: "REFERRAL_PROGRAM",
        voucher: { discount: { type: "AMOUNT", amount_off: 1 } },
        referral_program: {
          referee_reward: rewardOf(credits, "GIFT_VOUCHER", REFEREE_CREDITS),
          referrer_reward: rewardOf(points, "LOYALTY_CARD", REFERRER_POINTS),
        },
      });
      const { voucher } = await ok(
        api.post("/v1/publications", { campaign: program["id"], customer: newCode("referrer") }),
      );
      const path = `/v1/vouchers/${voucher.code}/redemption`;
      const referees = Array.from({ length: REFEREES }, () => newCode("referee"));
      const amountsOf = async ({ id }: Json, field: string): Promise<number[]> => {
        const list = await ok(api.get(`/v1/campaigns/${id}/transactions?limit=100`));
        const added = (list["data"] as Json[]).filter(({ source }) => source === "Automation");
        return added.map(({ details }) => details.balance[field] as number);
      };
      return {
        convert: () =>
          inParallel(referees, 1, (customer) =>
            postWithRetry(api, path, { customer, order: { amount: 100 } }),
          ),
        /** Credits of a referee and points of the referrer, for each payment. */
        async payments(): Promise<readonly (readonly (number | undefined)[])[]> {
          const toReferees = await amountsOf(credits, "amount");
          const toReferrer = await amountsOf(points, "points");
          const count = Math.max(toReferees.length, toReferrer.length);
          return Array.from({ length: count }, (_, at) => [toReferees[at], toReferrer[at]]);
        },
      };
    }

    async function createVoucher(voucher: Json): Promise<string> {
      const code = newCode("CRASH");
      await ok(api.post("/v1/vouchers", { code, ...voucher }));
      return code;
    }
  },
);
