import { afterAll, describe, expect, test } from "vitest";

import { newCall, newCustomers, newReward } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { customers, rewards, segments } = loyalty;

const expectNotFound = (attempts: readonly Promise<unknown>[]) =>
  Promise.all(
    attempts.map((attempt) => expect(attempt).rejects.toMatchObject({ key: "not_found" })),
  );

describe("a call of another project", () => {
  test("cannot read, change, list or delete a customer", async () => {
    const ada = await newCustomers(loyalty).create({ sourceId: "ada" });
    const call = newCall();
    await expectNotFound([
      customers.getCustomer({ customerId: ada.id }, call),
      customers.createCustomer({ id: ada.id, name: "Theirs" }, call),
      customers.updateCustomer({ customerId: ada.id, name: "Theirs" }, call),
      customers.deleteCustomer({ customerId: ada.id }, call),
      customers.deleteCustomerPermanently({ customerId: ada.id }, call),
    ]);
    expect((await customers.listCustomers({}, call)).total).toBe(0n);
  });

  test("cannot read, list, fill or delete a segment", async () => {
    const { create, call: owner } = newCustomers(loyalty);
    const ada = await create({ sourceId: "ada" });
    const { id } = await segments.createSegment(
      { name: "s", type: "static", customers: [ada.id] },
      owner,
    );
    const call = newCall();
    await expectNotFound([
      segments.getSegment({ segmentId: id }, call),
      segments.deleteSegment({ segmentId: id }, call),
      segments.createSegment({ name: "s", type: "static", customers: [ada.id] }, call),
    ]);
    expect((await segments.listSegments({}, call)).total).toBe(0n);
    expect((await segments.listCustomerSegments({ customerId: ada.id }, call)).total).toBe(0n);
    expect((await customers.listCustomers({ segmentId: id }, call)).total).toBe(0n);
  });

  test("cannot read, change, assign, list or delete a reward or its assignment", async () => {
    const owner = newCall();
    const { id: rewardId } = await newReward(loyalty, owner);
    const parameters = { loyalty: { points: 100n } };
    const { id: assignmentId } = await rewards.createRewardAssignment(
      { rewardId, campaign: "camp_1", parameters },
      owner,
    );
    const call = newCall();
    const campaignId = "camp_1";
    await expectNotFound([
      rewards.getReward({ rewardId }, call),
      rewards.updateReward({ rewardId, name: "Theirs" }, call),
      rewards.deleteReward({ rewardId }, call),
      rewards.createRewardAssignment({ rewardId, campaign: "camp_2", parameters }, call),
      rewards.listRewardAssignments({ rewardId }, call),
      rewards.getRewardAssignment({ rewardId, assignmentId }, call),
      rewards.updateRewardAssignment({ rewardId, assignmentId, parameters }, call),
      rewards.deleteRewardAssignment({ rewardId, assignmentId }, call),
      rewards.getLoyaltyReward({ campaignId, assignmentId }, call),
      rewards.getLoyaltyAssignmentReward({ campaignId, assignmentId }, call),
      rewards.updateLoyaltyReward({ campaignId, assignmentId, parameters }, call),
      rewards.deleteLoyaltyReward({ campaignId, assignmentId }, call),
    ]);
    expect((await rewards.listRewards({}, call)).total).toBe(0n);
    expect((await rewards.listLoyaltyRewards({ campaignId }, call)).total).toBe(0n);
  });
});
