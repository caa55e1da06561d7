import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  CampaignStatus,
  CampaignType,
  type CreateCampaignRequestSchema,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { afterAll, describe, expect, test } from "vitest";

import { givenProject, startFixture } from "./deps.ts";

const fixture = await startFixture();
afterAll(() => fixture[Symbol.asyncDispose]());
const { campaigns, promotions } = fixture;

type Body = Exclude<MessageInitShape<typeof CreateCampaignRequestSchema>, { $typeName: string }>;
const discount = { type: DiscountType.PERCENT, percentOff: "10" };
const coupons: Body = { name: "coupons", voucher: { discount } };

describe("while the voucher service is out of reach", () => {
  test("a campaign that should have codes says that it failed", async () => {
    const call = givenProject();
    await expect(campaigns.createCampaign({ ...coupons, vouchersCount: 1n }, call)).rejects.toThrow(
      "unimplemented",
    );
    expect(await campaigns.getCampaign({ campaignId: "coupons" }, call)).toMatchObject({
      creationStatus: CampaignStatus.FAILED,
      vouchersGenerationStatus: CampaignStatus.FAILED,
      vouchersCount: 0n,
    });
  });

  test("an update that does not reach the vouchers says so, and is no obstacle to the next", async () => {
    const call = givenProject();
    await campaigns.createCampaign(coupons, call);
    const change = {
      campaignId: "coupons",
      discount: { ...discount, percentOff: "20" },
      updateMask: { paths: ["discount"] },
    };
    await expect(campaigns.updateCampaign(change, call)).rejects.toThrow("unimplemented");
    await expect(campaigns.updateCampaign(change, call)).rejects.toThrow("unimplemented");
    const failed = await campaigns.getCampaign({ campaignId: "coupons" }, call);
    expect(failed.creationStatus).toBe(CampaignStatus.FAILED);
    // Nothing that vouchers have copied.
    const updated = await campaigns.updateCampaign(
      { campaignId: "coupons", description: "x", updateMask: { paths: ["description"] } },
      call,
    );
    expect(updated).toMatchObject({ description: "x", creationStatus: CampaignStatus.DONE });
  });
});

test("a protected campaign cannot be changed", async () => {
  const call = givenProject();
  const { id } = await campaigns.createCampaign(coupons, call);
  await fixture.db.query("update campaign set protected = true where id = $1", [id]);
  const change = { campaignId: id, description: "x", updateMask: { paths: ["description"] } };
  await expect(campaigns.updateCampaign(change, call)).rejects.toMatchObject({
    key: "resource_protected",
  });
});

test("whoever does not come back loses the turn, and waiting has an end", async () => {
  const call = givenProject();
  const { id } = await campaigns.createCampaign(coupons, call);
  const change = { campaignId: id, description: "x", updateMask: { paths: ["description"] } };
  const held = (seconds: number) =>
    fixture.db.query(
      `update campaign set turn = 'gone', turn_ends_at = now() + make_interval(secs => $2)
        where id = $1`,
      [id, seconds],
    );
  await held(60);
  const hurried = { ...call, deadline: Date.now() + 2_100 };
  await expect(campaigns.updateCampaign(change, hurried)).rejects.toMatchObject({
    key: "service_unavailable",
  });
  await held(-1);
  expect(await campaigns.updateCampaign(change, call)).toMatchObject({ description: "x" });
});

test("another project's campaigns, tiers and stacks are not there", async () => {
  const call = givenProject();
  const { id } = await campaigns.createCampaign(
    {
      name: "promotion",
      campaignType: CampaignType.PROMOTION,
      promotion: { tiers: [{ name: "tier", action: { discount } }] },
    },
    call,
  );
  const [tier] = (await promotions.listCampaignTiers({ campaignId: id }, call)).tiers;
  const tierId = tier!.id;
  const stack = await promotions.createPromotionStack(
    { campaignId: id, name: "stack", tiers: { ids: [tierId] } },
    call,
  );
  const stranger = givenProject();
  const own = await campaigns.createCampaign(
    { name: "promotion", campaignType: CampaignType.PROMOTION },
    stranger,
  );
  const attempts = [
    campaigns.getCampaign({ campaignId: id }, stranger),
    campaigns.updateCampaign({ campaignId: id }, stranger),
    campaigns.disableCampaign({ campaignId: id }, stranger),
    campaigns.createCampaignVouchers({ campaignId: id }, stranger),
    promotions.getPromotionTier({ tierId }, stranger),
    promotions.updatePromotionTier({ tierId }, stranger),
    promotions.deletePromotionTier({ tierId }, stranger),
    promotions.disablePromotionTier({ tierId }, stranger),
    promotions.getPromotionStack({ campaignId: id, stackId: stack.id }, stranger),
    promotions.getPromotionStack({ campaignId: own.id, stackId: stack.id }, stranger),
    promotions.createPromotionStack(
      { campaignId: own.id, name: "s", tiers: { ids: [tierId] } },
      stranger,
    ),
  ];
  await Promise.all(
    attempts.map((attempt) => expect(attempt).rejects.toMatchObject({ key: "not_found" })),
  );
  expect((await promotions.listPromotionTiers({}, stranger)).total).toBe(0n);
  expect((await promotions.listPromotionStacks({}, stranger)).total).toBe(0n);
  expect((await campaigns.listCampaigns({}, stranger)).total).toBe(1n);
});

test("takes the id that the gateway reserved, and no rules that came past it", async () => {
  const call = givenProject();
  const reservedId = "camp_0123456789abcdef01";
  const made = await campaigns.createCampaign({ ...coupons, reservedId }, call);
  expect(made.id).toBe(reservedId);
  const rules = ["val_1"];
  const past = { name: "past", action: { discount }, validationRules: rules };
  const attempts = [
    campaigns.createCampaign({ ...coupons, name: "other", validationRules: rules }, call),
    campaigns.createCampaign(
      { name: "p", campaignType: CampaignType.PROMOTION, promotion: { tiers: [past] } },
      call,
    ),
  ];
  await Promise.all(
    attempts.map((attempt) => expect(attempt).rejects.toMatchObject({ key: "invalid_payload" })),
  );
});
