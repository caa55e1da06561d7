import { fromBinary } from "@bufbuild/protobuf";
import {
  RedemptionMadeSchema,
  RewardCompletedSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { deliverDueRewards } from "../src/jobs/deliver-rewards.ts";
import { markCampaignDeleted, upsertCampaign } from "../src/store/campaigns.ts";
import {
  committedRedemptions,
  createCommit,
  createLoyaltyCard,
  rewardCommandOf,
} from "./builders.ts";
import { checkInvariants, depsOf, NOON, startTestService, type TestService } from "./deps.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterEach(() => checkInvariants(service));
afterAll(() => service[Symbol.asyncDispose]());

const MUG = { type: "MATERIAL", parameters: { product: { id: "prod_1" } } };

async function redeem(reward: object = MUG) {
  const card = await createLoyaltyCard(service);
  const [outcome] = await createCommit(service)(rewardCommandOf(service, card, reward));
  const [redemption] = committedRedemptions(outcome);
  if (redemption === undefined) throw new Error("nothing was redeemed");
  return redemption;
}

const complete = ({ id: redemptionId }: { readonly id: string }) =>
  service.redemptions.completeReward({ redemptionId }, service.call());

/** Of the outbox. */
async function eventsOf(redemptionId: string) {
  const { rows } = await service.db.query<{ type: string; payload: Buffer }>(
    `select type, payload from outbox where topic = 'scrip.redemptions.v1' and position($1 in encode(payload, 'escape')) > 0
      order by seq`,
    [redemptionId],
  );
  return {
    made: rows
      .filter(({ type }) => type === RedemptionMadeSchema.typeName)
      .map(({ payload }) => fromBinary(RedemptionMadeSchema, payload)),
    completed: rows
      .filter(({ type }) => type === RewardCompletedSchema.typeName)
      .map(({ payload }) => fromBinary(RewardCompletedSchema, payload)),
  };
}

test("completes a MATERIAL reward, also when it is repeated", async () => {
  const redemption = await redeem();
  expect(redemption.reward).toMatchObject({
    status: "PENDING",
    quantity: 2n,
    product: { id: "prod_1" },
  });
  expect((await eventsOf(redemption.id)).made).toMatchObject([{ rewardPending: true }]);
  expect((await complete(redemption)).reward?.status).toBe("COMPLETED");
  expect((await complete(redemption)).reward?.status).toBe("COMPLETED");
  const { made, completed } = await eventsOf(redemption.id);
  expect(completed).toMatchObject([
    {
      redemptionId: redemption.id,
      voucherId: made[0]?.voucherId,
      customerId: made[0]?.customerId,
      rewardId: redemption.reward?.id,
    },
  ]);
});

test("rejects redemptions of other rewards, and unknown ones", async () => {
  const coin = await redeem({ type: "COIN", parameters: { coin: { exchangeRatio: "1" } } });
  expect(coin.reward?.status).toBe("COMPLETED");
  expect((await eventsOf(coin.id)).made).toMatchObject([{ rewardPending: false }]);
  await expect(complete(coin)).rejects.toThrow("Invalid redemption");
  await expect(complete({ id: "r_none" })).rejects.toThrow("Resource not found");
});

test("a CAMPAIGN reward stays pending with its reason while it cannot be given", async () => {
  const deps = {
    ...depsOf(service.db),
    findProject: () => ({
      project: service.call().project,
      sandboxNow: NOON,
      deleted: false,
    }),
  };
  const { db, projectId } = service;
  const campaign = {
    id: "camp_none",
    name: "None",
    type: "DISCOUNT_COUPONS",
    joinOnce: false,
    template: new Uint8Array(1),
    referralTerms: null,
    convertsOrders: false,
  } as const;
  await upsertCampaign(db, projectId, campaign);
  const redemption = await redeem({
    type: "CAMPAIGN",
    parameters: { campaign: { id: campaign.id } },
  });
  await markCampaignDeleted(db, { projectId, campaignId: campaign.id, at: NOON });
  expect(redemption.reward).toMatchObject({ status: "PENDING" });
  await service.db.query(
    "update reward_redemption set next_attempt_at = now() where type = 'CAMPAIGN'",
  );
  expect(await deliverDueRewards(deps)).toBe(1);
  const { rows } = await service.db.query(
    "select status, attempts, reason, next_attempt_at > now() as again from reward_redemption where redemption_id = $1",
    [redemption.id],
  );
  expect(rows).toEqual([
    {
      status: "PENDING",
      attempts: 1,
      reason: "invalid_campaign: Campaign camp_none was deleted",
      again: true,
    },
  ]);
});
