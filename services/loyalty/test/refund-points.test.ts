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
const { cards, rewards } = loyalty;

describe("RefundPoints", () => {
  test("refunds a rollback once, even if repeated", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const holdId = holdIdOf(await card.hold(200n));
    await Promise.all([1, 2, 3].map(() => card.claim(holdId, "r_1")));
    // The hold is claimed, so a release changes nothing.
    await card.release(holdId);
    expect(await card.balances()).toMatchObject({ balance: 300n });
    await Promise.all([1, 2, 3].map(() => card.refund(holdId, "r_1", "rr_1")));
    expect(await card.balances()).toEqual({ points: 500n, balance: 500n, redeemedPoints: 0n });
    expect(await card.ledger()).toEqual([
      ["POINTS_REDEMPTION", -200n, 300n],
      ["POINTS_REFUND", 200n, 500n],
    ]);
    expect(await card.violations()).toEqual([]);
  });

  test("claims a hold first when its refund arrives before the claim", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const holdId = holdIdOf(await card.hold(200n));
    await card.refund(holdId, "r_1", "rr_1");
    await card.claim(holdId, "r_1");
    expect(await card.ledger()).toHaveLength(2);
    expect(await card.balances()).toMatchObject({ balance: 500n });
  });

  test("refunds nothing for a released or unknown hold", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const holdId = holdIdOf(await card.hold(200n));
    await card.release(holdId);
    await card.refund(holdId, "r_1", "rr_1");
    await card.refund("ps_unknown", "r_1", "rr_2");
    expect(await card.balances()).toMatchObject({ points: 500n, balance: 500n });
    expect(await card.ledger()).toEqual([]);
  });

  test("refunds several holds of one batch", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const { projectId } = card;
    const holdIds = [holdIdOf(await card.hold(100n)), holdIdOf(await card.hold(50n))];
    const refunds = holdIds.map((holdId, index) => ({
      projectId,
      holdId,
      redemptionId: `r_${index}`,
      rollbackId: `rr_${index}`,
      now: PROJECT_NOW,
    }));
    await cards.refundPoints({ refunds: [...refunds, ...refunds] }, newBatchCall());
    expect(await card.balances()).toEqual({ points: 500n, balance: 500n, redeemedPoints: 0n });
    expect(await card.ledger()).toHaveLength(4);
    expect(await card.violations()).toEqual([]);
  });

  test("returns the item in stock of the redemption", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const call = newCall();
    const ofCard = { ...call, project: { ...call.project, id: card.projectId } };
    const { id } = await newReward(loyalty, ofCard, { stock: 1n });
    const holdId = holdIdOf(await card.hold(100n, { rewardId: id, takesStock: true }));
    await card.claim(holdId, "r_1");
    await card.refund(holdId, "r_1", "rr_1");
    await card.refund(holdId, "r_1", "rr_1");
    expect(await rewards.getReward({ rewardId: id }, ofCard)).toMatchObject({ redeemed: 0n });
  });
});
