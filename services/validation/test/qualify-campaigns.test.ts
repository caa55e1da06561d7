import { toErrorResponse } from "@scrip/errors";
import {
  type Campaign,
  CampaignKind,
  CampaignType,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { createPromotionTier, createVoucher, newCode, TEN_PERCENT } from "./builders-requests.ts";
import { newProject, rejectionKey, startServices } from "./deps.ts";

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const { campaigns, qualifications } = services;

type NewCampaign = Omit<Parameters<typeof campaigns.createCampaign>[0], "$typeName" | "$unknown">;

/** Creates a campaign without vouchers: 10 % off the order by default. */
const createCampaign = (call: Call, fields: NewCampaign = {}): Promise<Campaign> =>
  campaigns.createCampaign(
    {
      name: newCode("Campaign"),
      campaignType: CampaignType.DISCOUNT_COUPONS,
      voucher: { type: VoucherType.DISCOUNT_VOUCHER, discount: TEN_PERCENT },
      ...fields,
    },
    call,
  );

const assignRule = async (call: Call, campaign: Campaign, name: string, conditions: object) => {
  const rules = { "1": { name, conditions: { ...conditions } } };
  const rule = await services.rules.createValidationRule({ rules }, call);
  await services.rules.createAssignment(
    { validationRuleId: rule.id, relatedObjectType: "campaign", relatedObjectId: campaign.id },
    call,
  );
};

const order = { amount: 10_000n };
const namesOf = ({ data }: { data: { name: string }[] }) => data.map(({ name }) => name);

describe("QualifyCampaigns", () => {
  test("returns whole campaigns of coupons, gift cards and referral codes, newest first", async () => {
    const call = newProject();
    const start = Date.now() - 60_000;
    const coupons = await createCampaign(call({ now: start }));
    const gifts = await createCampaign(call({ now: start + 1_000 }), {
      campaignType: CampaignType.GIFT_VOUCHERS,
      voucher: { type: VoucherType.GIFT_VOUCHER, gift: { amount: 500n } },
    });
    const referrals = await createCampaign(call({ now: start + 2_000 }), {
      campaignType: CampaignType.REFERRAL_PROGRAM,
    });
    await createCampaign(call(), {
      campaignType: CampaignType.LOYALTY_PROGRAM,
      voucher: { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 100n } },
    });
    await createPromotionTier(services, call());
    await createVoucher(services, call());
    const result = await qualifications.qualifyCampaigns({ order }, call());
    expect(result.data).toEqual([referrals, gifts, coupons]);
    expect(result.total).toBe(3n);
    const oldest = { order, sortOrder: "created_at", limit: 2n };
    expect(namesOf(await qualifications.qualifyCampaigns(oldest, call()))).toEqual([
      coupons.name,
      gifts.name,
    ]);
  });

  test("omits campaigns that are disabled, not valid now, or whose rules the order violates", async () => {
    const call = newProject();
    const valid = await createCampaign(call());
    const disabled = await createCampaign(call());
    await campaigns.disableCampaign({ campaignId: disabled.id }, call());
    await createCampaign(call(), { expirationDate: { seconds: 1_000n, nanos: 0 } });
    const limited = await createCampaign(call());
    await assignRule(call(), limited, "order.amount", { $more_than: [20_000] });
    const list = async (request: object) =>
      namesOf(await qualifications.qualifyCampaigns(request, call()));
    expect(await list({ order })).toEqual([valid.name]);
    expect(await list({ order: { amount: 30_000n } })).toEqual([limited.name, valid.name]);
    expect(await list({ order, audienceRulesOnly: true })).toEqual([limited.name, valid.name]);
  });

  test("evaluates a voucher that the customer would hold", async () => {
    const call = newProject();
    const campaign = await createCampaign(call());
    const name = "publication.redeemable_by_linked_customer";
    await assignRule(call(), campaign, name, { $is: [true] });
    const { code } = await createVoucher(services, call());
    // Creates the customer.
    const redemption = { code, order, customer: { sourceId: "ann" } };
    await services.validations.redeemVoucher(redemption, call());
    const list = async (request: object) =>
      namesOf(await qualifications.qualifyCampaigns({ order, ...request }, call()));
    expect(await list({ customer: { sourceId: "ann" } })).toEqual([campaign.name]);
    expect(await list({})).toEqual([]);
  });

  test("evaluates the one code of a standalone campaign with its redemptions", async () => {
    const call = newProject();
    const code = newCode("OPEN");
    const campaign = await createCampaign(call(), {
      type: CampaignKind.STANDALONE,
      voucher: {
        type: VoucherType.DISCOUNT_VOUCHER,
        discount: TEN_PERCENT,
        redemption: { quantity: 1n },
        code,
      },
    });
    const list = async () => namesOf(await qualifications.qualifyCampaigns({ order }, call()));
    expect(await list()).toEqual([campaign.name]);
    await services.validations.redeemVoucher({ code, order }, call());
    expect(await list()).toEqual([]);
  });

  test("rejects an unknown customer id and an invalid order", async () => {
    const call = newProject();
    const qualify = (request: Parameters<typeof qualifications.qualifyCampaigns>[0]) =>
      rejectionKey(qualifications.qualifyCampaigns(request, call()));
    expect(await qualify({ customer: { id: "cust_000000000000000000" } })).toBe("not_found");
    expect(await qualify({ order: { amount: -1n } })).toBe("invalid_order");
  });
});

describe("EstimatePoints", () => {
  /** A program that customers join automatically: a point per euro, and another for each shirt. */
  const createProgram = async (call: Call, fields: NewCampaign = {}): Promise<Campaign> => {
    const program = await createCampaign(call, {
      campaignType: CampaignType.LOYALTY_PROGRAM,
      voucher: { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 0n } },
      autoJoin: true,
      ...fields,
    });
    const shirts = { every: 1n, points: 1n, object: "product", id: "shirt" };
    const rules = [
      {
        calculationType: "ORDER_AMOUNT",
        order: { amount: { every: 100n, points: 1n } },
      },
      { calculationType: "ORDER_ITEMS_QUANTITY", orderItems: { quantity: shirts } },
    ].map((calculation) => ({
      event: "order.paid",
      loyalty: { type: "PROPORTIONAL", ...calculation },
    }));
    await services.earningRules.createEarningRules({ campaignId: program.id, rules }, call);
    return program;
  };
  const customer = { sourceId: "ann" };
  const shirts = { relatedObject: "product", sourceId: "shirt", price: 1_000n, quantity: 3n };

  test("sums the points of inline orders, stored ones, and stored ones with sent fields on top", async () => {
    const call = newProject();
    const { id: campaignId, name } = await createProgram(call());
    const pointsOf = async (sent: object): Promise<bigint> => {
      const request = { campaignId, customer, order: sent };
      const { campaign, pointsEstimation } = await qualifications.estimatePoints(request, call());
      expect(campaign).toMatchObject({ id: campaignId, name });
      return pointsEstimation;
    };
    expect(await pointsOf({ amount: 1_250n })).toBe(12n);
    expect(await pointsOf({ sourceId: "new", items: [shirts] })).toBe(33n);
    expect(await pointsOf({ sourceId: "new", metadata: { gift: true } })).toBe(0n);

    await services.orders.createOrder({ sourceId: "cart", items: [shirts] }, call());
    await services.orders.createOrder({ sourceId: "flat", amount: 700n }, call());
    expect(await pointsOf({ sourceId: "cart" })).toBe(33n);
    expect(await pointsOf({ sourceId: "cart", items: [{ ...shirts, quantity: 1n }] })).toBe(11n);
    expect(await pointsOf({ sourceId: "flat", amount: 900n })).toBe(9n);
    // Nothing was stored.
    expect(await pointsOf({ sourceId: "flat" })).toBe(7n);
    expect(await services.orders.listOrders({}, call())).toMatchObject({ total: 2n });
  });

  test("rejects what is missing or unknown, programs that are not live, and customers who are not members", async () => {
    const call = newProject();
    const { id } = await createProgram(call());
    const closed = await createProgram(call(), { autoJoin: false });
    const over = await createProgram(call(), { expirationDate: { seconds: 1_000n, nanos: 0 } });
    const rejection = (request: object, campaignId = id): Promise<unknown> =>
      qualifications.estimatePoints({ campaignId, customer, order, ...request }, call()).then(
        () => "not rejected",
        (error: unknown) => toErrorResponse(error, "").error,
      );

    const invalid = { key: "invalid_payload", details: "Property .customer must be object" };
    expect(await rejection({ customer: undefined })).toMatchObject(invalid);
    expect(await rejection({ order: undefined })).toMatchObject({
      details: "Property .order must be object",
    });
    expect(await rejection({ customer: { name: "Ann" } })).toMatchObject({
      key: "invalid_payload",
    });
    for (const unknown of [
      { customer: { id: "cust_unknown" } },
      { order: { sourceId: "unknown" } },
      { order: { id: "ord_unknown", amount: 1n } },
    ]) {
      expect(await rejection(unknown)).toMatchObject({ key: "not_found" });
    }
    expect(await rejection({}, "camp_unknown")).toMatchObject({ key: "not_found" });
    expect(await rejection({ order: { items: [{ ...shirts, price: -1n }] } })).toMatchObject({
      key: "invalid_order",
      details: expect.stringContaining("Property .order.items[0].price "),
    });
    expect(await rejection({}, over.id)).toMatchObject({
      key: "campaign_not_active",
      message: `Loyalty campaign '${over.id}' is not active`,
    });
    expect(await rejection({}, closed.id)).toMatchObject({ key: "campaign_not_allow_auto_join" });
  });
});
