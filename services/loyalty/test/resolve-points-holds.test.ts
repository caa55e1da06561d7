import { afterAll, describe, expect, test } from "vitest";

import { holdIdOf, newBatchCall, newCall, newLoyaltyCard, newReward } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { cards, rewards } = loyalty;

describe("ResolvePointsHolds", () => {
  test("claims a hold once, even if repeated", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const holdId = holdIdOf(await card.hold(200n));
    await Promise.all([1, 2, 3].map(() => card.claim(holdId, "r_1")));
    await card.claim(holdId, "r_other");
    expect(await card.balances()).toEqual({ points: 500n, balance: 300n, redeemedPoints: 200n });
    expect(await card.ledger()).toEqual([["POINTS_REDEMPTION", -200n, 300n]]);
    expect(await card.violations()).toEqual([]);
  });

  test("does not release a hold that was claimed", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const holdId = holdIdOf(await card.hold(200n));
    await card.claim(holdId, "r_1");
    await card.release(holdId);
    expect(await card.balances()).toMatchObject({ balance: 300n });
  });

  test("releases a hold without a ledger entry, and a later claim changes nothing", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const holdId = holdIdOf(await card.hold(500n));
    expect((await card.hold(1n)).case).toBe("rejected");
    await card.release(holdId);
    await card.release(holdId);
    await card.claim(holdId, "r_late");
    expect(await card.balances()).toMatchObject({ balance: 500n });
    expect(await card.ledger()).toEqual([]);
    expect(await card.violations()).toEqual([]);
  });

  test("either claims or releases a hold when a claim and a release arrive concurrently", async () => {
    for (let round = 0; round < 10; round += 1) {
      const card = newLoyaltyCard(loyalty, 500n);
      const holdId = holdIdOf(await card.hold(200n));
      await Promise.all([card.claim(holdId, "r_1"), card.release(holdId)]);
      const { balance } = await card.balances();
      const entries = await card.ledger();
      expect([balance, entries.length]).toEqual(entries.length === 1 ? [300n, 1] : [500n, 0]);
      expect(await card.violations()).toEqual([]);
    }
  });

  test("resolves a batch of holds and ignores unknown ones", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const { projectId } = card;
    const [claimed, released] = [holdIdOf(await card.hold(100n)), holdIdOf(await card.hold(50n))];
    await cards.resolvePointsHolds(
      {
        resolutions: [
          { projectId, holdId: claimed, redemptionId: "r_1" },
          { projectId, holdId: "ps_unknown", redemptionId: "r_2" },
          { projectId: "proj_other", holdId: released },
          { projectId, holdId: released },
        ],
      },
      newBatchCall(),
    );
    expect(await card.balances()).toEqual({ points: 500n, balance: 400n, redeemedPoints: 100n });
  });

  test("restores the session lock that a released hold replaced", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    expect(await card.lock("mine", 400n)).toBe(true);
    const holdId = holdIdOf(await card.hold(400n, { sessionKey: "mine" }));
    expect(await card.lock("other", 200n)).toBe(false);
    await card.release(holdId);
    expect(await card.lock("other", 200n)).toBe(false);
    expect(await card.lock("other", 100n)).toBe(true);
    expect(await card.violations()).toEqual([]);
  });

  test("restores no more of a session lock than is still available", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    await card.lock("mine", 400n);
    const holdId = holdIdOf(await card.hold(100n, { sessionKey: "mine" }));
    expect(await card.lock("other", 300n)).toBe(true);
    await card.release(holdId);
    expect(await card.lock("third", 1n)).toBe(false);
    expect(await card.violations()).toEqual([]);
  });

  test("returns the item in stock of a released hold", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const call = newCall();
    const ofCard = { ...call, project: { ...call.project, id: card.projectId } };
    const { id } = await newReward(loyalty, ofCard, { stock: 1n });
    const holdId = holdIdOf(await card.hold(100n, { rewardId: id, takesStock: true }));
    expect(await rewards.getReward({ rewardId: id }, ofCard)).toMatchObject({ redeemed: 1n });
    await card.release(holdId);
    await card.release(holdId);
    expect(await rewards.getReward({ rewardId: id }, ofCard)).toMatchObject({ redeemed: 0n });
  });
});
