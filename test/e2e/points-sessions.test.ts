import { describe, expect, test } from "vitest";

import {
  type ApiResponse,
  inParallel,
  type Json,
  managementApi,
  newCode,
  newProject,
  serverApi,
} from "../stack/api.ts";
import { balanceOf, type Card, createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { postWithRetry, retryUnavailable } from "../stack/retry.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("sessions on loyalty cards (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const program = await createLoyaltyProgram(api, { points: 1_000 });

  const validate = (
    cards: readonly Card[],
    points: number,
    body: Json = {},
  ): Promise<ApiResponse> =>
    api.post("/v1/validations", {
      customer: cards[0]?.customer,
      order: { amount: 100_000 },
      redeemables: cards.map(({ code }) => ({
        object: "voucher",
        id: code,
        reward: { id: program.rewardId, points },
      })),
      ...body,
    });

  const lock = (card: Card, points: number, key: string): Promise<ApiResponse> =>
    validate([card], points, { session: { type: "LOCK", key } });

  const redeem = ({ code, customer }: Card, points: number | undefined, session?: Json) =>
    api.post(`/v1/vouchers/${code}/redemption`, {
      customer,
      order: { amount: 100_000 },
      reward: { id: program.rewardId, ...(points !== undefined && { points }) },
      ...(session !== undefined && { session }),
    });

  const exceeded = {
    valid: false,
    redeemables: [{ result: { error: { key: "loyalty_card_points_exceeded" } } }],
  };

  test("lock points, so that other requests see only the unlocked ones", async () => {
    const card = await program.createCard();
    const key = newCode("key");
    expect((await lock(card, 700, key)).body).toMatchObject({ valid: true, session: { key } });
    expect((await lock(card, 400, newCode("key"))).body).toMatchObject(exceeded);
    expect((await redeem(card, 400)).body).toMatchObject({ key: "loyalty_card_points_exceeded" });
    // Without a number, other requests use the unlocked points; the session may use all points.
    expect((await validate([card], 300)).body).toMatchObject({ valid: true });
    expect((await redeem(card, undefined)).body).toMatchObject({ amount: 300 });
    const session = { type: "LOCK", key };
    expect((await redeem(card, 700, session)).body).toMatchObject({
      amount: 700,
      voucher: { loyalty_card: { balance: 0 } },
    });
    expect(await balanceOf(api, card)).toBe(0);
  });

  test("lock what the last request needs, and are released by DELETE /v1/vouchers/{code}/sessions/{key}", async () => {
    const card = await program.createCard();
    const key = newCode("key");
    await ok(lock(card, 900, key));
    await ok(lock(card, 200, key));
    expect((await validate([card], 800)).body).toMatchObject({ valid: true });
    expect((await api.delete(`/v1/vouchers/${card.code}/sessions/${key}`)).status).toBe(204);
    expect((await validate([card], 1_000)).body).toMatchObject({ valid: true });
    expect((await api.delete(`/v1/vouchers/${card.code}/sessions/${key}`)).status).toBe(404);
  });

  test("are released by DELETE even after the sandbox clock was set back", async () => {
    const { id, api: sandbox } = await newProject(stack, { sandbox: true });
    const clock = `/management/v1/projects/${id}/clock`;
    await ok(managementApi(stack).put(clock, { now: "2040-06-01T12:00:00Z" }));
    const { createCard, rewardId } = await createLoyaltyProgram(sandbox, { points: 1_000 });
    const { code, customer } = await createCard();
    const validated = (session?: Json): Promise<Json> =>
      ok(
        sandbox.post("/v1/validations", {
          customer,
          order: { amount: 100_000 },
          redeemables: [{ object: "voucher", id: code, reward: { id: rewardId, points: 900 } }],
          ...(session !== undefined && { session }),
        }),
      );
    const key = newCode("key");
    expect(await validated({ type: "LOCK", key })).toMatchObject({ valid: true });
    await ok(managementApi(stack).put(clock, { now: "2040-06-01T11:00:00Z" }));
    expect(await validated()).toMatchObject(exceeded);
    expect((await sandbox.delete(`/v1/vouchers/${code}/sessions/${key}`)).status).toBe(204);
    expect(await validated()).toMatchObject({ valid: true });
  });

  test("release a card when they lock another voucher", async () => {
    const card = await program.createCard();
    const key = newCode("key");
    await ok(lock(card, 900, key));
    const code = newCode("OTHER");
    const discount = { type: "PERCENT", percent_off: 10 };
    await ok(api.post(`/v1/vouchers/${code}`, { type: "DISCOUNT_VOUCHER", discount }));
    const other = await api.post("/v1/validations", {
      order: { amount: 100 },
      redeemables: [{ object: "voucher", id: code }],
      session: { type: "LOCK", key },
    });
    expect(other.body, other.text).toMatchObject({ valid: true });
    expect((await validate([card], 1_000)).body).toMatchObject({ valid: true });
  });

  test("keep their locks when the redemption fails", async () => {
    const card = await program.createCard();
    const key = newCode("key");
    await ok(lock(card, 900, key));
    const failed = await redeem(card, 1_001, { type: "LOCK", key });
    expect(failed.body).toMatchObject({ key: "loyalty_card_points_exceeded" });
    expect((await validate([card], 101)).body).toMatchObject(exceeded);
  });

  test("never lock more points than the balance, even under concurrent requests", async () => {
    const card = await program.createCard();
    const keys = Array.from({ length: 20 }, () => newCode("key"));
    const responses = await inParallel(keys, 20, (key) =>
      retryUnavailable(() => lock(card, 300, key)),
    );
    const locked = responses.filter(({ body }) => body["valid"] === true);
    // A request may be rejected while another's failed attempt is being released, so fewer than three can succeed.
    expect(locked.length).toBeGreaterThan(0);
    expect(locked.length).toBeLessThanOrEqual(3);
    for (const { body } of responses) {
      if (body["valid"] !== true) expect(body).toMatchObject(exceeded);
    }
    const redeemed = await inParallel(locked, 3, ({ body: { session } }) =>
      postWithRetry(api, `/v1/vouchers/${card.code}/redemption`, {
        customer: card.customer,
        order: { amount: 100_000 },
        reward: { id: program.rewardId, points: 300 },
        session,
      }),
    );
    for (const { status, text } of redeemed) expect(status, text).toBe(200);
    const left = 1_000 - 300 * locked.length;
    await expect.poll(() => balanceOf(api, card), { timeout: 60_000 }).toBe(left);
  });

  test("transfers and adjusts points exactly once under concurrent requests in both directions", async () => {
    const [ada, bob] = [await program.createCard(), await program.createCard()];
    const transfers = ({ code }: Card) =>
      `/v1/loyalties/${program.campaignId}/members/${code}/transfers`;
    const work = Array.from({ length: 24 }, (_, index) => {
      const [from, to] = index % 2 === 0 ? [ada, bob] : [bob, ada];
      if (index % 3 > 0) return () => api.post(transfers(to), [{ code: from.code, points: 230 }]);
      // Two requests with one key have one effect.
      const headers = { "Idempotency-Key": `adjust-${from.code}-${Math.floor(index / 12)}` };
      const path = `/v1/loyalties/members/${from.code}/balance`;
      const send = () => api.post(path, { points: -100 }, headers);
      return () => retryUnavailable(send, ({ body }) => body["key"] === "idempotency_in_progress");
    });
    const responses = await inParallel(work, 24, (send) => send());
    for (const { status, body, text } of responses) {
      if (status !== 200) expect(body["key"], text).toBe("loyalty_card_points_exceeded");
    }
    const [a, b] = [await balanceOf(api, ada), await balanceOf(api, bob)];
    expect(Math.min(a, b)).toBeGreaterThanOrEqual(0);
    const list = await ok(api.get(`/v1/loyalties/members/${ada.code}/transactions?limit=100`));
    const ofBob = await ok(api.get(`/v1/loyalties/members/${bob.code}/transactions?limit=100`));
    const entries: Json[] = [...list["data"], ...ofBob["data"]];
    const removed = entries.filter(({ type }) => type === "POINTS_REMOVAL").length;
    expect(removed).toBeLessThanOrEqual(4);
    expect(a + b).toBe(2_000 - 100 * removed);
    const byId = new Map(entries.map((entry) => [entry["id"], entry]));
    for (const entry of entries) {
      if (entry["type"] !== "POINTS_TRANSFER_OUT") continue;
      const other = byId.get(entry["related_transaction_id"]);
      expect(other).toMatchObject({
        type: "POINTS_TRANSFER_IN",
        related_transaction_id: entry["id"],
        details: { balance: { points: 230 } },
      });
      expect(entry["id"] < other?.["id"]).toBe(true);
    }
  });
});
