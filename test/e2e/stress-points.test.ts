import { setTimeout as sleep } from "node:timers/promises";

import fc from "fast-check";
import { describe, test } from "vitest";

import { inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { balanceOf, type Card, createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { postWithRetry } from "../stack/retry.ts";
import { COMPOSITIONS, type ServiceName, crashableStacks } from "../stack/stack.ts";

/** Every run sends the same requests; STRESS_SEED=$RANDOM sends others. */
const SEED = Number(process.env["STRESS_SEED"] ?? 20_261_121);
const CLIENTS = 24;
const REQUESTS = 150;
const POINTS = 8_000;
/** Number of responses before the first kill, and between kills. */
const KILL_EVERY = 30;
/** Points held by a killed process are released after about twenty seconds, later on a busy machine. */
const RELEASE_TIMEOUT_MS = 90_000;

/** Processes that are killed one after the other while requests are in progress. */
const KILLED_SERVICES: Readonly<Record<string, readonly (ServiceName | undefined)[]>> = {
  standalone: [undefined, undefined],
  distributed: ["validation", "loyalty", "voucher"],
};

const requestArbitrary = fc.record({
  picks: fc.shuffledSubarray([0, 1, 2], { minLength: 1, maxLength: 2 }),
  points: fc.integer({ min: 50, max: 600 }),
  kind: fc.constantFrom("redeem", "redeem", "roll_back", "session"),
});

// Both at the same time: they mostly wait for processes to start and for retries.
const stacks = crashableStacks();
describe.concurrent.each(COMPOSITIONS)(
  "kill -9 during redemptions with points (%s)",
  async (composition) => {
    const stack = await stacks[composition];
    const api = await serverApi(stack);
    // A customer has one card per program.
    const programs = await inParallel([1, 2, 3], 1, () =>
      createLoyaltyProgram(api, { points: POINTS }),
    );

    test("loses no points, spends none twice, and releases the points of failed redemptions", async ({
      expect,
    }) => {
      const customer = { source_id: newCode("holder") };
      const cards = await inParallel(programs, 1, (program) => program.createCard(customer));
      const requests = fc.sample(requestArbitrary, { seed: SEED, numRuns: REQUESTS });
      const load = { responses: 0, done: false };
      const kill = async (): Promise<void> => {
        for (const [nth, service] of (KILLED_SERVICES[composition] ?? []).entries()) {
          while (load.responses < (nth + 1) * KILL_EVERY && !load.done) await sleep(5);
          await stack.crash(service);
        }
      };
      const redeemAll = inParallel(requests, CLIENTS, async ({ picks, points, kind }) => {
        const body = {
          customer,
          order: { amount: 1_000_000 },
          redeemables: picks.map((at) => ({
            object: "voucher",
            id: cards[at]?.code,
            reward: { id: programs[at]?.rewardId, points },
          })),
          ...(kind === "session" && { session: { type: "LOCK", key: newCode("key") } }),
        };
        if (kind === "session") await postWithRetry(api, "/v1/validations", body);
        const response = await postWithRetry(api, "/v1/redemptions", body);
        load.responses += 1;
        if (response.status !== 200) return { response, parts: [] };
        const parts = response.body["redemptions"] as readonly Json[];
        if (kind !== "roll_back") return { response, parts };
        const orderRedemption = response.body["parent_redemption"] ?? parts[0];
        const rollback = await postWithRetry(
          api,
          `/v1/redemptions/${orderRedemption["id"]}/rollbacks`,
        );
        expect(rollback.status, rollback.text).toBe(200);
        return { response, parts: [] };
      }).finally(() => (load.done = true));
      const [outcomes] = await Promise.all([redeemAll, kill()]);

      const seedMessage = `STRESS_SEED=${SEED}`;
      for (const { response } of outcomes) {
        if (response.status === 200) continue;
        expect(response.body["key"], `${seedMessage} ${response.text}`).toBe(
          "loyalty_card_points_exceeded",
        );
      }
      const spentOf = (card: Card): number =>
        outcomes
          .flatMap(({ parts }) => parts)
          .filter(({ voucher }) => voucher.code === card.code)
          .reduce((sum, { amount }) => sum + (amount as number), 0);
      for (const card of cards) {
        const left = POINTS - spentOf(card);
        expect(left, seedMessage).toBeGreaterThanOrEqual(0);
        await expect.poll(() => balanceOf(api, card), { timeout: RELEASE_TIMEOUT_MS }).toBe(left);
      }
      expect(await invariantViolations(stack), seedMessage).toEqual([]);
    }, 300_000);
  },
);
