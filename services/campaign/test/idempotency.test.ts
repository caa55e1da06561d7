import { notFound, toErrorResponse } from "@scrip/errors";
import { CampaignKind, CampaignStatus } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import {
  CampaignChangedSchema,
  CampaignJobRequestedSchema,
} from "@scrip/proto/scrip/events/v1/campaigns_pb";
import type { Call } from "@scrip/rpc";
import { afterAll, afterEach, expect, test } from "vitest";

import { newCall, newCoupons, TEN_PERCENT } from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { campaigns, categories, db, network, replica, vouchers } = service;

afterEach(() => {
  network.losesResponses = false;
});

let keys = 0;
const keyedCall = (): { readonly call: Call; readonly unkeyed: Call } => {
  const unkeyed = newCall();
  const idempotency = { key: `key-${(keys += 1)}`, requestHash: Buffer.from("hash") };
  return { unkeyed, call: { ...unkeyed, idempotency } };
};

const countVouchers = async (campaignId: string, call: Call): Promise<bigint> =>
  (await vouchers.listVouchers({ campaignId }, call)).total;

test("finishes a campaign whose vouchers were created before the request was interrupted", async () => {
  const { call, unkeyed } = keyedCall();
  const request = {
    name: "summer",
    category: "new",
    vouchersCount: 5n,
    voucher: { discount: TEN_PERCENT },
  };
  network.losesResponses = true;
  await expect(campaigns.createCampaign(request, call)).rejects.toThrow("unreachable");
  network.losesResponses = false;

  const created = await replica().campaigns.createCampaign(request, call);

  expect(await campaigns.createCampaign(request, call)).toEqual(created);
  const { campaigns: all } = await campaigns.listCampaigns({}, unkeyed);
  expect(all).toMatchObject([
    { id: created.id, creationStatus: CampaignStatus.DONE, vouchersCount: 5n },
  ]);
  expect(await countVouchers(created.id, unkeyed)).toBe(5n);
  expect((await categories.listCategories({}, unkeyed)).total).toBe(1n);
});

test("finishes an interrupted campaign whose category was deleted, and stores no rejection of it", async () => {
  const { call, unkeyed } = keyedCall();
  const { id: categoryId } = await categories.createCategory(
    { name: "old", hierarchy: 1n },
    unkeyed,
  );
  const request = {
    name: "autumn",
    categoryId,
    vouchersCount: 5n,
    voucher: { discount: TEN_PERCENT },
  };
  network.losesResponses = true;
  await expect(campaigns.createCampaign(request, call)).rejects.toThrow("unreachable");
  network.losesResponses = false;
  await categories.deleteCategory({ categoryId }, unkeyed);

  // The gateway rejects the category before the call.
  const rejection = toErrorResponse(notFound("category", categoryId), "request").error;
  const rejected = { ...call, idempotency: { ...call.idempotency!, rejection } };
  await expect(campaigns.createCampaign(request, rejected)).rejects.toThrow("Resource not found");
  const created = await campaigns.createCampaign(request, call);

  expect(created.categoryId).toBeUndefined();
  expect(await campaigns.createCampaign(request, call)).toEqual(created);
  expect((await campaigns.listCampaigns({}, unkeyed)).total).toBe(1n);
  expect(await countVouchers(created.id, unkeyed)).toBe(5n);
});

test("takes over the campaign lock of its own interrupted attempt, and counts its vouchers once", async () => {
  const { call, unkeyed } = keyedCall();
  const { id: campaignId } = await newCoupons(service, unkeyed, { vouchersCount: 1n });
  network.losesResponses = true;
  await expect(
    campaigns.createCampaignVouchers({ campaignId, vouchersCount: 3n }, call),
  ).rejects.toThrow("unreachable");
  network.losesResponses = false;
  // As if the process had died before it released the lock.
  await db.query(
    "update campaign set turn = $2, turn_ends_at = now() + interval '1 hour' where id = $1",
    [campaignId, `${call.idempotency!.key}>lock`],
  );

  const first = await campaigns.createCampaignVouchers({ campaignId, vouchersCount: 3n }, call);

  expect(await campaigns.createCampaignVouchers({ campaignId, vouchersCount: 3n }, call)).toEqual(
    first,
  );
  expect(await campaigns.getCampaign({ campaignId }, unkeyed)).toMatchObject({ vouchersCount: 4n });
  expect(await countVouchers(campaignId, unkeyed)).toBe(4n);
});

/** The campaign was created, its code generated, and the campaign updated. */
const CHANGED = { type: CampaignChangedSchema.typeName, count: 3n };
const REQUESTED = { type: CampaignJobRequestedSchema.typeName, count: 1n };

test.each([
  { vouchersCount: 5n, events: [CHANGED] },
  { vouchersCount: 101n, events: [CHANGED, REQUESTED] },
])(
  "finishes an update of $vouchersCount vouchers that was interrupted after its commit, and announces it once",
  async ({ vouchersCount, events }) => {
    const { call, unkeyed } = keyedCall();
    const { id: campaignId } = await newCoupons(service, unkeyed, { vouchersCount: 1n });
    for (let missing = vouchersCount - 1n; missing > 0n; missing -= 100n) {
      const count = missing > 100n ? 100n : missing;
      await campaigns.createCampaignVouchers({ campaignId, vouchersCount: count }, unkeyed);
    }
    const request = {
      campaignId,
      discount: { ...TEN_PERCENT, percentOff: "20" },
      updateMask: { paths: ["discount"] },
    };
    network.losesResponses = true;
    await expect(campaigns.updateCampaign(request, call)).rejects.toThrow("unreachable");
    network.losesResponses = false;

    const updated = await replica().campaigns.updateCampaign(request, call);

    expect(await campaigns.updateCampaign(request, call)).toEqual(updated);
    const { rows } = await db.query<{ type: string; count: bigint }>(
      "select type, count(distinct id) as count from outbox where key = $1 group by type order by type",
      [campaignId],
    );
    expect(rows).toEqual(events);
  },
);

test("stores the rejection of a campaign whose codes exist, and creates none", async () => {
  const { call, unkeyed } = keyedCall();
  await newCoupons(service, unkeyed, {
    type: CampaignKind.STANDALONE,
    voucher: { discount: TEN_PERCENT, code: "TAKEN" },
  });
  const request = {
    name: "again",
    type: CampaignKind.STANDALONE,
    voucher: { discount: TEN_PERCENT, code: "TAKEN" },
  };

  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(campaigns.createCampaign(request, call)).rejects.toThrow("Duplicated resource");
  }

  expect((await campaigns.listCampaigns({}, unkeyed)).total).toBe(1n);
});
