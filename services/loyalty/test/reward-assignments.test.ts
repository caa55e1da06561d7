import { fromBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ResourceChangedSchema } from "@scrip/proto/scrip/events/v1/resources_pb";
import type { Call } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { newBatchCall, newCall, newReward, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { rewards } = loyalty;

const priceOf = (points: bigint, autoRedeem?: boolean) => ({
  loyalty: { points, ...(autoRedeem !== undefined && { autoRedeem }) },
});

/** A reward that is assigned to `camp_1` for 100 points. */
async function newAssignment(call: Call) {
  const { id: rewardId } = await newReward(loyalty, call);
  const campaignId = "camp_1";
  const assignment = await rewards.createRewardAssignment(
    { rewardId, campaign: campaignId, parameters: priceOf(100n) },
    call,
  );
  return { rewardId, campaignId, assignmentId: assignment.id, assignment };
}

describe("CreateRewardAssignment", () => {
  test("assigns a reward to a program with a price", async () => {
    const call = newCall();
    const { rewardId, assignment } = await newAssignment(call);
    expect(assignment).toMatchObject({
      id: expect.stringMatching(/^rewa_/),
      rewardId,
      relatedObjectId: "camp_1",
      relatedObjectType: "campaign",
      parameters: { loyalty: { points: 100n, autoRedeem: false } },
      createdAt: timestampFromMs(NOON),
    });
  });

  test("assigns a COIN reward without a price", async () => {
    const call = newCall();
    const parameters = { coin: { exchangeRatio: "1" } };
    const { id: rewardId } = await newReward(loyalty, call, { type: "COIN", parameters });
    const assigned = await rewards.createRewardAssignment({ rewardId, campaign: "camp_1" }, call);
    expect(assigned.parameters?.loyalty).toBeUndefined();
    await expect(
      rewards.createRewardAssignment(
        { rewardId, campaign: "camp_2", parameters: priceOf(1n) },
        call,
      ),
    ).rejects.toMatchObject({ key: "invalid_payload" });
  });

  test("rejects an unknown reward and a missing price", async () => {
    const call = newCall();
    const { id: rewardId } = await newReward(loyalty, call);
    const assign = (request: { rewardId: string; parameters?: object }) =>
      rewards.createRewardAssignment({ campaign: "camp_1", ...request }, call);
    await expect(assign({ rewardId: "rew_1" })).rejects.toMatchObject({ key: "not_found" });
    await expect(assign({ rewardId })).rejects.toMatchObject({ key: "missing_param" });
    await expect(assign({ rewardId, parameters: { loyalty: {} } })).rejects.toMatchObject({
      key: "missing_param",
    });
  });

  test("rejects a second assignment to the same program, also when both arrive concurrently", async () => {
    const call = newCall();
    const { id: rewardId } = await newReward(loyalty, call);
    const request = { rewardId, campaign: "camp_1", parameters: priceOf(1n) };
    const outcomes = await Promise.allSettled(
      [1, 2].map(() => rewards.createRewardAssignment(request, call)),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(rewards.createRewardAssignment(request, call)).rejects.toMatchObject({
      key: "duplicate_found",
    });
  });

  test("rejects a second automatic redemption in a program", async () => {
    const call = newCall();
    const assign = async (autoRedeem: boolean) => {
      const { id: rewardId } = await newReward(loyalty, call);
      return rewards.createRewardAssignment(
        { rewardId, campaign: "camp_1", parameters: priceOf(1n, autoRedeem) },
        call,
      );
    };
    await assign(true);
    await assign(false);
    await expect(assign(true)).rejects.toMatchObject({ key: "invalid_payload" });
  });
});

describe("GetRewardAssignment", () => {
  test("returns the assignment of this reward only", async () => {
    const call = newCall();
    const { rewardId, assignmentId, assignment } = await newAssignment(call);
    expect(await rewards.getRewardAssignment({ rewardId, assignmentId }, call)).toEqual(assignment);
    await expect(
      rewards.getRewardAssignment({ rewardId: "rew_1", assignmentId }, call),
    ).rejects.toMatchObject({ key: "not_found" });
  });
});

describe("GetLoyaltyReward", () => {
  test("returns the assignment of this program with its reward", async () => {
    const call = newCall();
    const { rewardId, campaignId, assignmentId } = await newAssignment(call);
    const found = await rewards.getLoyaltyReward({ campaignId, assignmentId }, call);
    expect(found).toMatchObject({ id: assignmentId, reward: { id: rewardId, name: "Mug" } });
    await expect(
      rewards.getLoyaltyReward({ campaignId: "camp_2", assignmentId }, call),
    ).rejects.toMatchObject({ key: "not_found" });
  });
});

describe("GetLoyaltyAssignmentReward", () => {
  test("returns the reward of the assignment", async () => {
    const call = newCall();
    const { rewardId, campaignId, assignmentId } = await newAssignment(call);
    const request = { campaignId, assignmentId };
    expect((await rewards.getLoyaltyAssignmentReward(request, call)).id).toBe(rewardId);
    await expect(
      rewards.getLoyaltyAssignmentReward({ campaignId, assignmentId: "rewa_1" }, call),
    ).rejects.toMatchObject({ key: "not_found" });
  });
});

describe("UpdateRewardAssignment and UpdateLoyaltyReward", () => {
  test("change the price, which both paths show", async () => {
    const call = newCall();
    const { rewardId, campaignId, assignmentId } = await newAssignment(call);
    const later = { ...call, now: NOON + 1000 };
    const changed = await rewards.updateRewardAssignment(
      { rewardId, assignmentId, parameters: priceOf(70n) },
      later,
    );
    expect(changed).toMatchObject({
      parameters: { loyalty: { points: 70n, autoRedeem: false } },
      updatedAt: timestampFromMs(NOON + 1000),
    });
    const again = await rewards.updateLoyaltyReward(
      { campaignId, assignmentId, parameters: { loyalty: { autoRedeem: true } } },
      later,
    );
    expect(again).toMatchObject({
      parameters: { loyalty: { points: 70n, autoRedeem: true } },
      reward: { id: rewardId },
    });
  });

  test("change nothing without a price", async () => {
    const call = newCall();
    const { rewardId, assignmentId, assignment } = await newAssignment(call);
    const request = { rewardId, assignmentId };
    expect(await rewards.updateRewardAssignment(request, call)).toEqual(assignment);
  });

  test("reject an unknown assignment, a price of a COIN reward and a second automatic redemption", async () => {
    const call = newCall();
    const { rewardId, campaignId, assignmentId } = await newAssignment(call);
    const parameters = priceOf(1n, true);
    await expect(
      rewards.updateRewardAssignment({ rewardId, assignmentId: "rewa_1", parameters }, call),
    ).rejects.toMatchObject({ key: "not_found" });
    await expect(
      rewards.updateLoyaltyReward({ campaignId: "camp_2", assignmentId, parameters }, call),
    ).rejects.toMatchObject({ key: "not_found" });
    await rewards.updateRewardAssignment({ rewardId, assignmentId, parameters }, call);
    const other = await newReward(loyalty, call);
    const second = await rewards.createRewardAssignment(
      { rewardId: other.id, campaign: campaignId, parameters: priceOf(1n) },
      call,
    );
    await expect(
      rewards.updateLoyaltyReward({ campaignId, assignmentId: second.id, parameters }, call),
    ).rejects.toMatchObject({ key: "invalid_payload" });
    const coin = { coin: { exchangeRatio: "1" } };
    const ofCoins = await newReward(loyalty, call, { type: "COIN", parameters: coin });
    const assigned = await rewards.createRewardAssignment(
      { rewardId: ofCoins.id, campaign: campaignId },
      call,
    );
    await expect(
      rewards.updateLoyaltyReward({ campaignId, assignmentId: assigned.id, parameters }, call),
    ).rejects.toMatchObject({ key: "invalid_payload" });
  });
});

describe("DeleteRewardAssignment and DeleteLoyaltyReward", () => {
  test("delete an assignment once", async () => {
    const call = newCall();
    const one = await newAssignment(call);
    await rewards.deleteRewardAssignment(one, call);
    await expect(rewards.deleteRewardAssignment(one, call)).rejects.toMatchObject({
      key: "not_found",
    });
    const other = await newAssignment(call);
    const elsewhere = { ...other, campaignId: "camp_2" };
    await expect(rewards.deleteLoyaltyReward(elsewhere, call)).rejects.toMatchObject({
      key: "not_found",
    });
    await rewards.deleteLoyaltyReward(other, call);
    await expect(rewards.deleteLoyaltyReward(other, call)).rejects.toMatchObject({
      key: "not_found",
    });
  });
});

describe("ListRewardAssignments and ListLoyaltyRewards", () => {
  test("return pages of a reward's programs and of a program's rewards", async () => {
    const call = newCall();
    const { rewardId } = await newAssignment(call);
    for (const [index, campaign] of ["camp_2", "camp_3"].entries()) {
      await rewards.createRewardAssignment(
        { rewardId, campaign, parameters: priceOf(1n) },
        { ...call, now: NOON + (index + 1) * 1000 },
      );
    }
    const page = await rewards.listRewardAssignments({ rewardId, limit: 2n }, call);
    expect(page.data.map(({ relatedObjectId }) => relatedObjectId)).toEqual(["camp_3", "camp_2"]);
    expect(page.total).toBe(3n);
    const listed = await rewards.listLoyaltyRewards({ campaignId: "camp_2" }, call);
    expect(listed).toMatchObject({ data: [{ rewardId, reward: { id: rewardId } }], total: 1n });
    expect((await rewards.listLoyaltyRewards({ campaignId: "camp_9" }, call)).total).toBe(0n);
    const createdAt = { after: timestampFromMs(NOON), before: timestampFromMs(NOON + 2000) };
    const ranged = await rewards.listRewardAssignments({ rewardId, createdAt }, call);
    expect(ranged.data.map(({ relatedObjectId }) => relatedObjectId)).toEqual(["camp_2"]);
    expect(ranged.total).toBe(1n);
    const later = { campaignId: "camp_2", createdAt: { after: createdAt.before } };
    expect((await rewards.listLoyaltyRewards(later, call)).total).toBe(0n);
    await expect(rewards.listRewardAssignments({ rewardId: "rew_1" }, call)).rejects.toMatchObject({
      key: "not_found",
    });
  });
});

describe("ResolveRewardAssignments", () => {
  test("returns the existing assignments in the order of the queries", async () => {
    const call = newCall();
    const projectId = call.project.id;
    const { assignmentId, assignment } = await newAssignment(call);
    const { results } = await rewards.resolveRewardAssignments(
      {
        queries: [
          { projectId, assignmentId: "rewa_unknown" },
          { projectId, assignmentId },
          { projectId: "proj_other", assignmentId },
        ],
      },
      newBatchCall(),
    );
    expect(results.map((result) => result.assignment)).toEqual([undefined, assignment, undefined]);
  });
});

test("both ways to assign a reward to a program publish the assignment for webhooks", async () => {
  const webhookEvents = ["campaign.reward.assignment.created"];
  const { project, ...call } = newCall();
  const receiving = { ...call, project: { ...project, webhookEvents } };
  const { assignmentId, campaignId } = await newAssignment(receiving);
  const added = [await newReward(loyalty, receiving), await newReward(loyalty, receiving)];
  const { rewards: assigned } = await rewards.createLoyaltyRewards(
    { campaignId, rewards: added.map(({ id }) => ({ reward: id, parameters: priceOf(50n) })) },
    receiving,
  );
  const { rows } = await loyalty.db.query<{ key: string; payload: Uint8Array }>(
    "select key, payload from outbox where project_id = $1 and type = $2 order by seq",
    [project.id, ResourceChangedSchema.typeName],
  );
  expect(rows.map(({ key }) => key)).toEqual([assignmentId, ...assigned.map(({ id }) => id)]);
  for (const { payload } of rows)
    expect(fromBinary(ResourceChangedSchema, payload)).toMatchObject({
      names: webhookEvents,
      resource: "reward_assignment",
    });
});
