import { newId } from "@scrip/ids";
import { CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { afterAll, expect, test } from "vitest";

import { newCall, newCoupons, NOON } from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { campaigns, referralTiers } = service;

test("tiers are changed only together with their replica in the voucher service", async () => {
  const call = newCall();
  const gift = await campaigns.createCampaign(
    { name: "Gift", campaignType: CampaignType.GIFT_VOUCHERS, voucher: { gift: { amount: 1n } } },
    call,
  );
  const { id: campaignId } = await newCoupons(service, call, {
    campaignType: CampaignType.REFERRAL_PROGRAM,
  });
  const reward = { related_object_parent: { id: gift.id }, type: "GIFT_VOUCHER", amount: 1 };
  const body = { name: "Tier", condition: { type: "EACH_UNIQUE_REFEREE" }, reward };
  const { id: tierId } = await referralTiers.createReferralTier({ campaignId, ...body }, call);
  const path = { campaignId, tierId };
  service.network.isUp = false;
  await expect(referralTiers.disableReferralTier(path, call)).rejects.toThrow(
    /unreachable|deadline/,
  );
  await expect(referralTiers.deleteReferralTier(path, call)).rejects.toThrow(
    /unreachable|deadline/,
  );
  service.network.isUp = true;
  const list = async () => (await referralTiers.listReferralTiers({ campaignId }, call)).data;
  expect(await list()).toMatchObject([{ id: tierId, active: true }]);
  await referralTiers.updateReferralTier(
    { ...path, condition: { type: "MINIMUM_UNIQUE_REFEREES", count: 3n } },
    { ...call, now: NOON + 1 },
  );
  await referralTiers.disableReferralTier(path, call);
  await referralTiers.enableReferralTier(path, call);
  expect(await list()).toMatchObject([
    { name: "Tier", condition: { type: "MINIMUM_UNIQUE_REFEREES", count: 3n }, active: true },
  ]);
  await referralTiers.deleteReferralTier(path, call);
  expect(await list()).toEqual([]);
});

test("ListTiersNamingSegment returns the tiers of programs that exist", async () => {
  const call = newCall();
  const gift = await campaigns.createCampaign(
    { name: "Gift", campaignType: CampaignType.GIFT_VOUCHERS, voucher: { gift: { amount: 1n } } },
    call,
  );
  const { id: campaignId } = await newCoupons(service, call, {
    campaignType: CampaignType.REFERRAL_PROGRAM,
  });
  const reward = { related_object_parent: { id: gift.id }, type: "GIFT_VOUCHER", amount: 1 };
  const tier = { name: "Tier", condition: { type: "EACH_UNIQUE_REFEREE" }, reward };
  const created: string[] = [];
  for (const segmentId of ["seg_gold", "seg_gold", "seg_other"]) {
    const { id } = await referralTiers.createReferralTier({ campaignId, ...tier, segmentId }, call);
    created.push(id);
  }
  const naming = (segmentId: string, caller = call) =>
    referralTiers.listTiersNamingSegment({ segmentId }, caller);
  expect(await naming("seg_gold")).toMatchObject({ tierIds: created.slice(0, 2), total: 2n });
  expect(await naming("seg_none")).toMatchObject({ tierIds: [], total: 0n });
  expect(await naming("seg_gold", newCall())).toMatchObject({ total: 0n });
  await service.jobs.requestDeletion({ jobId: newId("aa"), campaignId }, call);
  expect(await naming("seg_gold")).toMatchObject({ total: 0n });
});
