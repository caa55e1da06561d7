import { newId } from "@scrip/ids";
import { afterAll, describe, expect, test } from "vitest";

import { newBatchCall, newCall, newLoyaltyCard, newReward, PROJECT_NOW } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { cards, rewards } = loyalty;

describe("LoadCards", () => {
  test("returns balances and the points that other sessions lock, in the order of the queries", async () => {
    const [one, other] = [newLoyaltyCard(loyalty, 500n), newLoyaltyCard(loyalty, 40n)];
    await one.hold(100n);
    await one.lock("mine", 200n);
    const query = (card: typeof one, sessionKey?: string) => ({
      projectId: card.projectId,
      now: PROJECT_NOW,
      ...(sessionKey !== undefined && { sessionKey }),
      cards: [{ cardId: card.cardId, initialPoints: card.reference.initialPoints }],
    });
    const { results } = await cards.loadCards(
      { queries: [query(other), query(one), query(one, "mine")] },
      newBatchCall(),
    );
    expect(results.flatMap((result) => result.cards)).toMatchObject([
      { balances: { points: 40n, balance: 40n }, lockedPoints: 0n },
      { balances: { points: 500n, balance: 400n }, lockedPoints: 200n },
      { balances: { points: 500n, balance: 400n }, lockedPoints: 0n },
    ]);
  });

  test("shows a retry the points and the last item in stock that its earlier attempt holds", async () => {
    const call = newCall();
    const projectId = call.project.id;
    const campaignId = newId("camp");
    const { id: rewardId } = await newReward(loyalty, call, { stock: 2n });
    await rewards.createRewardAssignment(
      { rewardId, campaign: campaignId, parameters: { loyalty: { points: 100n } } },
      call,
    );
    const references = [newId("v"), newId("v")].map((cardId) => ({ cardId, initialPoints: 100n }));
    const parts = references.map((reference) => ({
      ...reference,
      points: 100n,
      rewardId,
      takesStock: true,
    }));
    const commands = [{ projectId, now: PROJECT_NOW, parts, requestKey: "key" }];
    const { outcomes } = await cards.holdPoints({ commands }, newBatchCall());
    expect(outcomes[0]?.outcome.case).toBe("held");

    const seenBy = async (requestKey: string) => {
      const requested = references.map((reference) => ({ ...reference, campaignId, rewardId }));
      const queries = [{ projectId, now: PROJECT_NOW, requestKey, cards: requested }];
      const { results } = await cards.loadCards({ queries }, newBatchCall());
      return results[0]?.cards.map(({ balances, reward }) => [balances?.balance, reward?.redeemed]);
    };
    expect(await seenBy("key")).toEqual([
      [100n, 0n],
      [100n, 0n],
    ]);
    expect(await seenBy("other")).toEqual([
      [0n, 2n],
      [0n, 2n],
    ]);
  });

  test("returns reward and assignment only if the campaign has the reward", async () => {
    const call = newCall();
    const campaignId = newId("camp");
    const { id: rewardId } = await newReward(loyalty, call);
    const assignment = await rewards.createRewardAssignment(
      { rewardId, campaign: campaignId, parameters: { loyalty: { points: 100n } } },
      call,
    );
    const card = { cardId: newId("v"), initialPoints: 1n };
    const queries = [campaignId, "camp_other"].map((campaign) => ({
      projectId: call.project.id,
      now: PROJECT_NOW,
      cards: [{ ...card, campaignId: campaign, rewardId }],
    }));
    const { results } = await cards.loadCards({ queries }, newBatchCall());
    expect(results[0]?.cards).toMatchObject([
      { reward: { id: rewardId }, assignment: { id: assignment.id } },
    ]);
    expect(results[1]?.cards[0]?.reward).toBeUndefined();
    expect(results[1]?.cards[0]?.assignment).toBeUndefined();
  });
});

describe("GetCardBalances", () => {
  test("returns the initial points of cards that were never used, in order", async () => {
    const used = newLoyaltyCard(loyalty, 500n);
    await used.hold(100n);
    const unused = newLoyaltyCard(loyalty, 30n);
    const { balances } = await cards.getCardBalances(
      { cards: [unused.reference, used.reference, { ...used.reference, projectId: "proj_other" }] },
      newBatchCall(),
    );
    expect(balances.map(({ balance }) => balance)).toEqual([30n, 400n, 500n]);
  });
});
