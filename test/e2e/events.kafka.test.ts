import { testKafka } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { inParallel, newCode, serverApi } from "../stack/api.ts";
import { outputOf } from "../stack/compositions.ts";
import { balanceOf, createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok } from "../stack/rule-builders.ts";
import { startStack } from "../stack/stack.ts";

const POINTS = 5;
/** Processes, a broker and its restart take long on a busy machine. */
const TIMEOUT_MS = 240_000;
const kafka = await testKafka();
afterAll(() => kafka[Symbol.asyncDispose]());
const stack = await startStack("standalone", { SCRIP_KAFKA_BROKERS: kafka.brokers });
afterAll(() => stack[Symbol.asyncDispose]());

test(
  "earns points once for each order paid, also while Kafka is unavailable",
  async () => {
    const api = await serverApi(stack);
    const program = await createLoyaltyProgram(api, { points: 0 });
    const rules = `/v1/loyalties/${program.campaignId}/earning-rules`;
    await expect
      .poll(
        async () =>
          (
            await api.post(rules, [
              { event: "order.paid", loyalty: { type: "FIXED", points: POINTS }, source: {} },
            ])
          ).status,
      )
      .toBe(200);
    const card = await program.createCard({ source_id: newCode("buyer") });
    await ok(
      api.post("/v1/vouchers", {
        code: "KAFKA",
        type: "DISCOUNT_VOUCHER",
        discount: { type: "AMOUNT", amount_off: 100 },
      }),
    );
    /** Alternately by an order and by a redemption. */
    const pay = async (nth: number): Promise<void> => {
      const order = { source_id: newCode("order"), amount: 1000, status: "PAID" };
      if (nth % 2 === 0) await ok(api.post("/v1/orders", { ...order, customer: card.customer }));
      else {
        const body = { order, customer: card.customer };
        await ok(api.post("/v1/vouchers/KAFKA/redemption", body));
      }
    };
    await inParallel([0, 1], 1, pay);
    await expect.poll(() => balanceOf(api, card)).toBe(2 * POINTS);
    // The broker was empty: its topics and the offsets of groups did not exist.
    expect(outputOf(stack)).not.toContain("KafkaJS");

    await kafka.program?.kill();
    await inParallel([2, 3, 4, 5, 6, 7, 8, 9], 4, pay);
    await kafka.program?.restart();
    await inParallel([10, 11], 1, pay);

    await expect.poll(() => balanceOf(api, card)).toBe(12 * POINTS);
    // A repetition that arrives late would change it.
    await inParallel([12], 1, pay);
    await expect.poll(() => balanceOf(api, card)).toBe(13 * POINTS);
  },
  TIMEOUT_MS,
);
