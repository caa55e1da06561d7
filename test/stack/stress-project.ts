import { expect } from "vitest";

import {
  type Api,
  type Json,
  managementApi,
  newCode,
  newProject,
  type StackAccess,
} from "./api.ts";
import { ok } from "./rule-builders.ts";

export type Redeemable = { readonly object: "voucher" | "promotion_tier"; readonly id: string };

/** Redeemables for concurrent redemptions, with their limits. */
export type StressProject = {
  readonly projectId: string;
  readonly api: Api;
  readonly redeemables: readonly Redeemable[];
  readonly quantities: ReadonlyMap<string, number>;
  readonly gifts: ReadonlyMap<string, number>;
  /** Total number of redemptions that the campaign's rule allows. */
  readonly campaign: { readonly codes: ReadonlySet<string>; readonly count: number };
  /** Number of redemptions per customer that the campaign's rule allows. */
  readonly personal: { readonly codes: ReadonlySet<string>; readonly count: number };
  /** Number of redemptions of each tier per customer. */
  readonly tiers: { readonly ids: ReadonlySet<string>; readonly count: number };
};

const DISCOUNT = { type: "AMOUNT", amount_off: 10 };
const QUANTITY = 15;
const CREDITS = 30_000;

/** Creates a project that allows stacks of the maximum size, and 40 redeemables in it. */
export async function createStressProject(
  stack: StackAccess,
  mode: "ALL" | "PARTIAL",
): Promise<StressProject> {
  const { id, api } = await newProject(stack);
  const settings = { applicable_redeemables_limit: 30, redeemables_application_mode: mode };
  await ok(
    managementApi(stack).post(`/management/v1/projects/${id}/stacking-rules`, {
      ...settings,
      applicable_redeemables_per_category_limit: 30,
    }),
  );
  const shop = buildersFor(api);
  const limited = await shop.vouchers(14, { ...COUPON, redemption: { quantity: QUANTITY } });
  const free = await shop.vouchers(2, COUPON);
  const gifts = await shop.vouchers(8, { type: "GIFT_VOUCHER", gift: { amount: CREDITS } });
  const campaign = { codes: await shop.campaign("campaign.redemptions.count", 60), count: 60 };
  const personal = {
    codes: await shop.campaign("campaign.redemptions.customers_count", 7),
    count: 7,
  };
  const [tiers, open] = [await shop.tiers(2, 5), await shop.tiers(2, 100_000)];
  const codes = [...limited, ...free, ...gifts, ...campaign.codes, ...personal.codes];
  const redeemables = [
    ...codes.map((code): Redeemable => ({ object: "voucher", id: code })),
    ...[...tiers, ...open].map((tier): Redeemable => ({ object: "promotion_tier", id: tier })),
  ];
  expect(redeemables).toHaveLength(40);
  return {
    projectId: id,
    api,
    redeemables,
    quantities: new Map(limited.map((code) => [code, QUANTITY])),
    gifts: new Map(gifts.map((code) => [code, CREDITS])),
    campaign,
    personal,
    tiers: { ids: new Set(tiers), count: 5 },
  };
}

const COUPON: Json = { type: "DISCOUNT_VOUCHER", discount: DISCOUNT };

const buildersFor = (api: Api) => {
  const ruleOf = async (name: string, limit: number): Promise<string> => {
    const conditions = { $less_than_or_equal: [limit] };
    const rules = { "1": { name, conditions }, logic: "1" };
    return (await ok(api.post("/v1/validation-rules", { name: newCode("rule"), rules })))["id"];
  };
  const campaignOf = async (fields: Json): Promise<string> =>
    (await ok(api.post("/v1/campaigns", { name: newCode("campaign"), ...fields })))["id"];
  const times = async <Created>(
    count: number,
    make: () => Promise<Created>,
  ): Promise<Created[]> => {
    const created: Created[] = [];
    for (let n = 0; n < count; n += 1) created.push(await make());
    return created;
  };
  return {
    vouchers: (count: number, voucher: Json): Promise<string[]> =>
      times(count, async () => {
        const code = newCode("STRESS");
        await ok(api.post("/v1/vouchers", { code, ...voucher }));
        return code;
      }),
    /** Creates a campaign with a rule and six vouchers without a quantity. */
    campaign: async (name: string, limit: number): Promise<ReadonlySet<string>> => {
      const campaign = await campaignOf({
        campaign_type: "DISCOUNT_COUPONS",
        vouchers_count: 0,
        validation_rules: [await ruleOf(name, limit)],
        voucher: { ...COUPON, redemption: { quantity: null } },
      });
      const codes = await times(6, async () => {
        const code = newCode("CAMP");
        await ok(api.post(`/v1/campaigns/${campaign}/vouchers/${code}`, {}));
        return code;
      });
      return new Set(codes);
    },
    tiers: async (count: number, limit: number): Promise<string[]> => {
      const campaign = await campaignOf({ campaign_type: "PROMOTION" });
      const rule = await ruleOf("redemption.count.per_customer", limit);
      return times(count, async () => {
        const tier = {
          name: newCode("tier"),
          action: { discount: DISCOUNT },
          validation_rules: [rule],
        };
        return (await ok(api.post(`/v1/promotions/${campaign}/tiers`, tier)))["id"];
      });
    },
  };
};
