import { newId } from "@scrip/ids";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";

import {
  holdIdOf,
  newBatchCall,
  newCall,
  newLoyaltyCard,
  newReward,
  PROJECT_NOW,
} from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { cards, db, rewards } = loyalty;

describe("HoldPoints", () => {
  test("reduces the balance without a ledger entry", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    expect(await card.hold(200n)).toMatchObject({
      case: "held",
      value: { holds: [{ balances: { points: 500n, balance: 300n, redeemedPoints: 200n } }] },
    });
    expect(await card.balances()).toEqual({ points: 500n, balance: 300n, redeemedPoints: 200n });
    expect(await card.ledger()).toEqual([]);
  });

  test("held points are not part of the balance that a later change returns", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    await card.hold(200n);
    const { projectId, cardId } = card;
    const call = newCall();
    const { outcome } = await cards.adjustPoints(
      {
        card: { projectId, cardId, initialPoints: 500n },
        operationId: newId("vtx"),
        points: 50n,
      },
      { ...call, project: { ...call.project, id: projectId } },
    );
    expect(outcome).toMatchObject({ case: "moved", value: { total: 550n, balance: 350n } });
    expect(await card.balances()).toMatchObject({ balance: 350n });
  });

  test("rejects more points than the card has and changes nothing", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    expect(await card.hold(501n)).toMatchObject({
      case: "rejected",
      value: { part: 0, key: "loyalty_card_points_exceeded" },
    });
    expect(await card.balances()).toMatchObject({ balance: 500n });
  });

  test("holds once for all attempts of a request, and again after a release", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const attempts = await Promise.all([1, 2, 3].map(() => card.hold(400n, { requestKey: "key" })));
    expect(new Set(attempts.map(holdIdOf)).size).toBe(1);
    await card.release(holdIdOf(attempts[0]!));
    const again = await card.hold(400n, { requestKey: "key" });
    expect(holdIdOf(again)).not.toBe(holdIdOf(attempts[0]!));
    expect(await card.balances()).toMatchObject({ balance: 100n });
  });

  test("never overdraws a card when two holds arrive concurrently", async () => {
    for (let round = 0; round < 10; round += 1) {
      const card = newLoyaltyCard(loyalty, 500n);
      const outcomes = await Promise.all([card.hold(300n), card.hold(300n)]);
      expect(new Set(outcomes.map((outcome) => outcome.case))).toEqual(
        new Set(["held", "rejected"]),
      );
      expect(await card.balances()).toMatchObject({ balance: 200n });
      expect(await card.violations()).toEqual([]);
    }
  });

  test("holds the points of all cards of a command or of none", async () => {
    const projectId = newId("proj");
    const parts = [100n, 10n].map((initialPoints) => ({
      cardId: newId("v"),
      initialPoints,
      points: 50n,
      rewardId: "rew_1",
    }));
    const commands = [{ projectId, now: PROJECT_NOW, parts }];
    const { outcomes } = await cards.holdPoints({ commands }, newBatchCall());
    expect(outcomes[0]?.outcome).toMatchObject({
      case: "rejected",
      value: { part: 1, key: "loyalty_card_points_exceeded" },
    });
    const references = parts.map(({ cardId, initialPoints }) => ({
      projectId,
      cardId,
      initialPoints,
    }));
    const { balances } = await cards.getCardBalances({ cards: references }, newBatchCall());
    expect(balances.map(({ balance }) => balance)).toEqual([100n, 10n]);
  });

  test("rejects a reward that is out of stock or deleted", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const call = newCall();
    const ofCard = { ...call, project: { ...call.project, id: card.projectId } };
    const { id } = await newReward(loyalty, ofCard, { stock: 1n });
    const options = { rewardId: id, takesStock: true };
    const [first, second] = [await card.hold(100n, options), await card.hold(100n, options)];
    expect(first.case).toBe("held");
    expect(second).toMatchObject({ case: "rejected", value: { key: "reward_out_of_stock" } });
    await rewards.deleteReward({ rewardId: id }, ofCard);
    expect(await card.hold(100n, options)).toMatchObject({ value: { key: "reward_out_of_stock" } });
    expect(await card.balances()).toMatchObject({ balance: 400n });
  });

  test("assigns the last item in stock to one of two concurrent holds", async () => {
    const [one, other] = [newLoyaltyCard(loyalty, 500n), newLoyaltyCard(loyalty, 500n)];
    const projectId = one.projectId;
    const call = newCall();
    const { id } = await newReward(
      loyalty,
      { ...call, project: { ...call.project, id: projectId } },
      { stock: 1n },
    );
    const outcomes = await Promise.all(
      [one, other].map(async ({ cardId }) => {
        const part = { cardId, initialPoints: 500n, points: 1n, rewardId: id, takesStock: true };
        const commands = [{ projectId, now: PROJECT_NOW, parts: [part] }];
        return (await cards.holdPoints({ commands }, newBatchCall())).outcomes[0]!.outcome.case;
      }),
    );
    expect(new Set(outcomes)).toEqual(new Set(["held", "rejected"]));
    const { rows } = await db.query("select redeemed from reward where id = $1", [id]);
    expect(rows).toEqual([{ redeemed: 1n }]);
  });

  test("leaves points that other sessions lock, and replaces the lock of its own session", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    await card.lock("mine", 400n);
    expect(await card.hold(200n)).toMatchObject({
      case: "rejected",
      value: { key: "loyalty_card_points_exceeded" },
    });
    expect((await card.hold(400n, { sessionKey: "mine" })).case).toBe("held");
    expect(await card.lock("other", 100n)).toBe(true);
    expect(await card.violations()).toEqual([]);
  });
});

test("balances and ledger stay consistent under any concurrent holds, claims, releases, refunds and locks", async () => {
  const action = fc.record({
    points: fc.bigInt({ min: 1n, max: 90n }),
    end: fc.constantFrom("claimed", "released", "rolled back", "pending"),
    session: fc.option(fc.constantFrom("a", "b")),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 24 }), async (actions) => {
      const card = newLoyaltyCard(loyalty, 300n);
      const ends = await Promise.all(
        actions.map(async ({ points, end, session }, at) => {
          if (session !== null) await card.lock(session, points);
          const sessionKey = session === null ? {} : { sessionKey: session };
          const holdId = holdIdOf(await card.hold(points, sessionKey));
          if (holdId === "") return 0n;
          if (end === "pending") return points;
          if (end === "released") return card.release(holdId).then(() => 0n);
          await Promise.all([1, 2].map(() => card.claim(holdId, `r_${at}`)));
          if (end === "claimed") return points;
          await Promise.all([1, 2].map(() => card.refund(holdId, `r_${at}`, `rr_${at}`)));
          return 0n;
        }),
      );
      const spent = ends.reduce((sum, points) => sum + points, 0n);
      expect(await card.balances()).toMatchObject({ balance: 300n - spent });
      expect(await card.violations()).toEqual([]);
    }),
    { numRuns: 25 },
  );
});
