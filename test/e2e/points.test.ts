import { describe, expect, test } from "vitest";

import {
  inParallel,
  type Json,
  managementApi,
  newCode,
  newProject,
  serverApi,
} from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import {
  balanceOf,
  type Card,
  createLoyaltyProgram,
  type LoyaltyProgram,
} from "../stack/loyalty-program.ts";
import { postWithRetry } from "../stack/retry.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("paying with points (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const program = await createLoyaltyProgram(api, { points: 3_000 });

  const bodyOf = ({ customer }: Card, ownProgram: LoyaltyProgram, body: Json) => ({
    customer,
    order: { amount: 45_000 },
    reward: { id: ownProgram.rewardId },
    ...body,
  });
  const redeem = (
    card: Card,
    body: Json = {},
    {
      ownProgram = program,
      headers = {},
    }: { ownProgram?: LoyaltyProgram; headers?: Record<string, string> } = {},
  ) => api.post(`/v1/vouchers/${card.code}/redemption`, bodyOf(card, ownProgram, body), headers);
  const redeemWithRetry = (card: Card, body: Json, ownProgram = program) =>
    postWithRetry(api, `/v1/vouchers/${card.code}/redemption`, bodyOf(card, ownProgram, body));

  test("shows a date of expiration only where points expire", async () => {
    const card = await program.createCard();
    const cardOf = async (): Promise<Json> =>
      (await ok(api.get(`/v1/vouchers/${card.code}`)))["loyalty_card"];
    expect(await cardOf()).toEqual({ points: 3_000, balance: 3_000 });
    const added = { points: 5, expiration_type: "CUSTOM_DATE", expiration_date: "2999-12-31" };
    await ok(api.post(`/v1/loyalties/members/${card.code}/balance`, added));
    expect(await cardOf()).toEqual({
      points: 3_005,
      balance: 3_005,
      next_expiration_date: "2999-12-31",
      next_expiration_points: 5,
    });
  });

  test("takes the blocks of points that the order needs, and returns the remaining balance", async () => {
    const card = await program.createCard();
    const validated = await api.post(`/v1/vouchers/${card.code}/validate`, {
      customer: card.customer,
      order: { amount: 45_000 },
      reward: { id: program.rewardId },
    });
    expect(validated.body, validated.text).toMatchObject({
      valid: true,
      loyalty: { points_cost: 2_300 },
      reward: { id: program.rewardId, object: "reward", type: "COIN" },
      order: { total_discount_amount: 45_000, total_amount: 0 },
    });
    expect(await balanceOf(api, card)).toBe(3_000);

    const redeemed = await redeem(card);
    expect(redeemed.status, redeemed.text).toBe(200);
    const left = {
      loyalty_card: { points: 3_000, balance: 700 },
      redemption: { redeemed_quantity: 1, redeemed_points: 2_300 },
    };
    expect(redeemed.body).toMatchObject({
      amount: 2_300,
      result: "SUCCESS",
      loyalty_card: { points: 2_300 },
      reward: { id: program.rewardId, type: "COIN", assignment_id: program.assignmentId },
      order: { amount: 45_000, total_discount_amount: 45_000, total_amount: 0, status: "PAID" },
      voucher: left,
    });
    expect(redeemed.body["gift"]).toBeUndefined();
    expect((await api.get(`/v1/vouchers/${card.code}`)).body).toMatchObject(left);
    const { body: listed } = await api.get(`/v1/vouchers?code=${card.code}`);
    expect(listed).toMatchObject({ vouchers: [left] });
    const stored = await api.get(`/v1/redemptions/${redeemed.body["id"]}`);
    expect(stored.body).toMatchObject({
      amount: 2_300,
      loyalty_card: { points: 2_300 },
      reward: { id: program.rewardId },
      voucher: left,
    });
  });

  test.each([
    {
      what: "the requested points",
      points: 250,
      requested: 100,
      amount: 45_000,
      gives: [100, 2_000],
    },
    {
      what: "the points that the order needs",
      points: 3_000,
      requested: 3_000,
      amount: 6_000,
      gives: [300, 6_000],
    },
    { what: "whole blocks of the balance", points: 250, amount: 45_000, gives: [200, 4_000] },
    { what: "less than a block", points: 250, requested: 150, amount: 45_000, gives: [150, 3_000] },
  ])("takes $what", async ({ points, requested, amount, gives: [payment = 0, discount] }) => {
    const ownProgram = await createLoyaltyProgram(api, { points });
    const card = await ownProgram.createCard();
    const body = { order: { amount }, reward: { id: ownProgram.rewardId, points: requested } };
    const redeemed = await redeem(card, body, { ownProgram });
    expect(redeemed.body, redeemed.text).toMatchObject({
      amount: payment,
      order: { total_discount_amount: discount },
    });
    expect(await balanceOf(api, card)).toBe(points - payment);
  });

  test("rejects invalid redemptions of a card, and keeps its points", async () => {
    const card = await program.createCard();
    const stranger = { source_id: newCode("stranger") };
    const rejections: readonly (readonly [Json, number, Json])[] = [
      [{ reward: {} }, 400, { key: "missing_reward" }],
      [{ reward: { id: "rew_none" } }, 404, { resource_type: "reward_assignment" }],
      [
        { customer: stranger },
        400,
        {
          key: "invalid_customer",
          message: "Customer must be a holder of a loyalty card.",
          details: card.code,
        },
      ],
      [
        { reward: { id: program.rewardId, points: 3_001 } },
        400,
        { key: "loyalty_card_points_exceeded", details: card.code },
      ],
      [{ reward: { id: program.rewardId, points: 0 } }, 400, { key: "invalid_amount" }],
      [{ order: { amount: 0 } }, 400, { key: "invalid_amount" }],
      [{ order: undefined }, 400, { key: "missing_order" }],
    ];
    for (const [body, status, error] of rejections) {
      const rejected = await redeem(card, body);
      expect(rejected.status, rejected.text).toBe(status);
      expect(rejected.body).toMatchObject(error);
    }
    expect(await balanceOf(api, card)).toBe(3_000);

    const poor = await createLoyaltyProgram(api, { points: 99 });
    const rejected = await redeem(await poor.createCard(), {}, { ownProgram: poor });
    expect(rejected.body).toMatchObject({ key: "loyalty_card_points_exceeded" });
  });

  test("explains the evaluation of a card and the number of missing points", async () => {
    const card = await program.createCard();
    const validated = await api.post("/v1/validations", {
      customer: card.customer,
      order: { amount: 6_000 },
      redeemables: [
        { object: "voucher", id: card.code, reward: { id: program.rewardId, points: 3_100 } },
      ],
      options: { expand: ["explanation", "hints"] },
    });
    expect(validated.body, validated.text).toMatchObject({
      valid: false,
      redeemables: [
        {
          status: "INAPPLICABLE",
          result: {
            error: { key: "loyalty_card_points_exceeded" },
            hints: [{ name: "balance", difference: -100 }],
          },
        },
      ],
    });
    const redeemed = await redeem(card, { order: { amount: 6_000 } });
    const { body } = await api.get(`/v1/redemptions/${redeemed.body["id"]}/explanation`);
    expect(body["redeemables"][0].explanation.steps).toContainEqual(
      expect.objectContaining({ kind: "balance", passed: true, limit: 3_000 }),
    );
  });

  test("enforces the rules of the reward assignment, including rules on the points used", async () => {
    const rule = await ok(
      api.post("/v1/validation-rules", {
        name: newCode("rule"),
        context_type: "reward_assignment.pay_with_points",
        rules: {
          "1": {
            name: "redemption.reward.pay_with_points.points_used",
            conditions: { $less_than_or_equal: [500] },
          },
          logic: "1",
        },
      }),
    );
    const ownProgram = await createLoyaltyProgram(api, { points: 3_000, rules: [rule["id"]] });
    const card = await ownProgram.createCard();
    const rejected = await redeem(card, {}, { ownProgram });
    expect(rejected.body).toMatchObject({
      key: "redemption_rules_violated",
      details: `Loyalty Card cannot be redeemed because of violated validation rules: ${rule["id"]}`,
    });
    const reward = { id: ownProgram.rewardId, points: 500 };
    expect((await redeem(card, { reward }, { ownProgram })).body).toMatchObject({ amount: 500 });
  });

  test("pays the amount that the other redeemables of a stack leave, all or nothing", async () => {
    const card = await program.createCard();
    const [ten, gift] = [newCode("TEN"), newCode("GIFT")];
    const discount = { type: "PERCENT", percent_off: 10 };
    await ok(api.post(`/v1/vouchers/${ten}`, { type: "DISCOUNT_VOUCHER", discount }));
    await ok(api.post(`/v1/vouchers/${gift}`, { type: "GIFT_VOUCHER", gift: { amount: 3_000 } }));
    const together = (points: number) => ({
      customer: card.customer,
      order: { amount: 10_000 },
      redeemables: [
        { object: "voucher", id: ten },
        { object: "voucher", id: gift },
        { object: "voucher", id: card.code, reward: { id: program.rewardId, points } },
      ],
    });
    const rejected = await api.post("/v1/redemptions", together(4_000));
    expect(rejected.body).toMatchObject({ key: "loyalty_card_points_exceeded" });
    expect(await balanceOf(api, card)).toBe(3_000);

    const redeemed = await api.post("/v1/redemptions", together(2_000));
    expect(redeemed.body, redeemed.text).toMatchObject({
      redemptions: [
        { order: { total_discount_amount: 1_000 } },
        { amount: 3_000, gift: { amount: 3_000 } },
        { amount: 300, loyalty_card: { points: 300 } },
      ],
      order: { total_amount: 0 },
    });
    const parent = redeemed.body["parent_redemption"].id;
    const rollback = await api.post(`/v1/redemptions/${parent}/rollbacks`);
    expect(rollback.body, rollback.text).toMatchObject({
      rollbacks: [{}, { amount: -3_000 }, { amount: -300, loyalty_card: { points: -300 } }],
    });
    expect(await balanceOf(api, card)).toBe(3_000);
  });

  test("returns points once when the redemption is rolled back", async () => {
    const card = await program.createCard();
    const redeemed = await redeem(card);
    const path = `/v1/redemptions/${redeemed.body["id"]}/rollback`;
    const twice = await Promise.all([api.post(path), api.post(path)]);
    const [rollback, rejected] = twice.toSorted((a, b) => a.status - b.status);
    expect(rollback?.body, rollback?.text).toMatchObject({
      amount: -2_300,
      loyalty_card: { points: -2_300 },
      reward: { id: program.rewardId },
      voucher: {
        loyalty_card: { balance: 3_000 },
        redemption: { redeemed_quantity: 0, redeemed_points: 0 },
      },
      order: { status: "CANCELED" },
    });
    expect(rejected?.status, rejected?.text).toBe(400);
    expect(await balanceOf(api, card)).toBe(3_000);
    expect((await redeem(card)).body).toMatchObject({ amount: 2_300 });
  });

  test("lists the transactions of a card page by page", async () => {
    const card = await program.createCard();
    const [first, second] = [
      await ok(redeem(card)),
      await ok(redeem(card, { order: { amount: 1 } })),
    ];
    const rollback = await ok(api.post(`/v1/redemptions/${first["id"]}/rollback`));
    const path = `/v1/loyalties/${program.campaignId}/members/${card.code}/transactions`;
    const list = async (query: string): Promise<Json> => ok(api.get(path + query));
    await expect.poll(async () => (await list(""))["data"].length, { timeout: 60_000 }).toBe(3);
    const entry = (type: string, points: number, balance: number) => ({
      id: expect.stringMatching(/^vtx_/),
      voucher_id: card.id,
      campaign_id: program.campaignId,
      source_id: null,
      type,
      details: {
        balance: {
          object: "balance",
          type: "loyalty_card",
          total: 3_000,
          points,
          balance,
          related_object: { id: card.id, type: "voucher" },
        },
        order: { id: expect.stringMatching(/^ord_/) },
        reward: { id: program.rewardId, name: "Pay with points" },
      },
    });
    const { data } = await list("?order=id");
    const types = data.map(({ type }: Json) => type);
    expect(types.toSorted()).toEqual(["POINTS_REDEMPTION", "POINTS_REDEMPTION", "POINTS_REFUND"]);
    const payment = data.find(({ details }: Json) => details.redemption.id === first["id"]);
    expect(payment).toMatchObject(
      entry("POINTS_REDEMPTION", -2_300, payment.details.balance.balance),
    );
    const other = data.find(({ details }: Json) => details.redemption.id === second["id"]);
    expect(other.details.balance.points).toBe(-100);
    const refund = data.find(({ details }: Json) => details.rollback !== undefined);
    expect(refund).toMatchObject({
      ...entry("POINTS_REFUND", 2_300, refund.details.balance.balance),
      details: { redemption: { id: first["id"] }, rollback: { id: rollback["id"] } },
    });
    expect(data.at(-1).details.balance.balance).toBe(2_900);

    const firstPage = await list("?limit=2");
    expect(firstPage).toMatchObject({
      has_more: true,
      more_starting_after: firstPage["data"][1].id,
    });
    const rest = await list(`?starting_after_id=${firstPage["more_starting_after"]}`);
    expect([...firstPage["data"], ...rest["data"]]).toEqual(data.toReversed());
    expect(await ok(api.get(`/v1/vouchers/${card.code}/transactions?order=id`))).toMatchObject({
      data,
      has_more: false,
    });
    const elsewhere = (await createLoyaltyProgram(api)).campaignId;
    const wrong = await api.get(`/v1/loyalties/${elsewhere}/members/${card.code}/transactions`);
    expect(wrong.body).toMatchObject({ key: "not_found", resource_type: "voucher" });
  });

  test("spends points once when a request is repeated with one idempotency key", async () => {
    const card = await program.createCard();
    const headers = { "idempotency-key": newCode("key") };
    const reward = { id: program.rewardId, points: 3_000 };
    const order = { amount: 60_000 };
    const responses = await inParallel([1, 2, 3, 4], 4, () =>
      redeem(card, { reward, order }, { headers }),
    );
    const again = await redeem(card, { reward, order }, { headers });
    for (const response of [...responses, again]) expect(response.text).toBe(responses[0]?.text);
    expect(again.body).toMatchObject({ amount: 3_000, voucher: { loyalty_card: { balance: 0 } } });
    expect(await balanceOf(api, card)).toBe(0);
  });

  test("never overdraws a card under concurrent redemptions", async () => {
    const card = await program.createCard();
    const responses = await inParallel(Array.from({ length: 24 }), 24, () =>
      redeemWithRetry(card, {
        reward: { id: program.rewardId, points: 400 },
        order: { amount: 10_000 },
      }),
    );
    const created = responses.filter(({ status }) => status === 200);
    // A request may be rejected while another's failed attempt still holds points, so not all points need be spent.
    expect(created.length).toBeGreaterThan(0);
    for (const { status, body } of responses) {
      if (status !== 200) expect(body["key"]).toBe("loyalty_card_points_exceeded");
    }
    const left = 3_000 - 400 * created.length;
    expect(left).toBeGreaterThanOrEqual(0);
    await expect.poll(() => balanceOf(api, card), { timeout: 60_000 }).toBe(left);
  });

  test("releases points immediately when a redemption cannot be committed", async () => {
    const ownProgram = await createLoyaltyProgram(api, { points: 3_000, quantity: 1 });
    const card = await ownProgram.createCard();
    const responses = await inParallel(Array.from({ length: 8 }), 8, () =>
      redeemWithRetry(card, { reward: { id: ownProgram.rewardId, points: 100 } }, ownProgram),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status, body } of responses) {
      if (status !== 200) expect(body["key"]).toBe("quantity_exceeded");
    }
    await expect.poll(() => balanceOf(api, card), { timeout: 60_000 }).toBe(2_900);
  });

  test("pays for the remaining redeemables of a PARTIAL stack when a race exhausts the others", async () => {
    const { id, api: own } = await newProject(stack);
    await ok(
      managementApi(stack).post(`/management/v1/projects/${id}/stacking-rules`, {
        redeemables_application_mode: "PARTIAL",
      }),
    );
    const ownProgram = await createLoyaltyProgram(own, { points: 800 });
    const card = await ownProgram.createCard();
    const code = newCode("SCARCE");
    await ok(
      own.post(`/v1/vouchers/${code}`, {
        type: "DISCOUNT_VOUCHER",
        discount: { type: "AMOUNT", amount_off: 100 },
        redemption: { quantity: 2 },
      }),
    );
    // Each request holds its points at most once at a time, so the balance suffices for all.
    const responses = await inParallel(Array.from({ length: 8 }), 8, () =>
      postWithRetry(own, "/v1/redemptions", {
        customer: card.customer,
        order: { amount: 10_000 },
        redeemables: [
          { object: "voucher", id: code },
          { object: "voucher", id: card.code, reward: { id: ownProgram.rewardId, points: 100 } },
        ],
      }),
    );
    for (const { status, text } of responses) expect(status, text).toBe(200);
    const sizes = responses.map(({ body }) => body["redemptions"].length as number);
    expect(sizes.toSorted((a, b) => b - a)).toEqual([2, 2, 1, 1, 1, 1, 1, 1]);
    expect(await balanceOf(own, card)).toBe(0);
  });

  test("keeps all invariants", async () => {
    expect(await invariantViolations(stack, stack.projectId)).toEqual([]);
  });
});
