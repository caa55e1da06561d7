import { type Api, type Json, newCode } from "./api.ts";
import { createLoyaltyProgram } from "./loyalty-program.ts";
import { ok, orderAbove, ruleBuilders, TEN_PERCENT } from "./rule-builders.ts";
import { createLoyaltyFixtures } from "./writing-loyalty-requests.ts";

export type Fixtures = Awaited<ReturnType<typeof createFixtures>>;

/** Resources that the requests of the table refer to, in a new project and in another one. */
export async function createFixtures(
  api: Api,
  management: Api,
  { projectId, otherId }: { readonly projectId: string; readonly otherId: string },
) {
  const path = `/management/v1/projects/${projectId}`;
  const otherPath = `/management/v1/projects/${otherId}`;
  const otherStacking = `${otherPath}/stacking-rules`;
  await ok(management.post(otherStacking, { redeemables_limit: 5 }));
  const builders = ruleBuilders(api);
  const voucher = async (body: Json = {}): Promise<string> =>
    (await builders.createVoucher({ code: newCode("W"), ...body }))["code"];
  const redeemed = async (): Promise<string> =>
    (await ok(api.post(`/v1/vouchers/${await voucher()}/redemption`, ORDER)))["id"];
  const campaign = async (body: Json = {}): Promise<Json> => builders.createCampaign(body);
  const idOf = async (request: ReturnType<Api["post"]>): Promise<string> =>
    (await ok(request))["id"];
  const promotion = await idOf(
    api.post("/v1/campaigns", { name: newCode("promotion"), campaign_type: "PROMOTION" }),
  );
  const tier = (): Promise<string> => idOf(api.post(`/v1/promotions/${promotion}/tiers`, TIER));
  const tiers = await inOrder([tier, tier, tier]);
  const program = await createLoyaltyProgram(api, { autoJoin: true });
  const reward = () =>
    idOf(
      api.post("/v1/rewards", {
        name: "coins",
        type: "COIN",
        parameters: { coin: { exchange_ratio: 1, points_ratio: 1 } },
      }),
    );
  const [rule, customer, deletedCustomer, product, category] = await Promise.all([
    idOf(api.post("/v1/validation-rules", { name: "rule", rules: orderAbove(0) })),
    idOf(api.post("/v1/customers", { source_id: newCode("updated") })),
    idOf(api.post("/v1/customers", { source_id: newCode("deleted") })),
    idOf(api.post("/v1/products", { name: "product" })),
    idOf(api.post("/v1/categories", { name: newCode("cat"), hierarchy: 1 })),
  ]);
  const referralCode = async (): Promise<string> => {
    const { id } = await campaign({ campaign_type: "REFERRAL_PROGRAM", vouchers_count: 1 });
    const published = { campaign: id, customer: { source_id: "referrer" } };
    return (await ok(api.post("/v1/publications", published)))["voucher"].code;
  };
  /** A tier and its body. */
  const referralTier = async () => {
    const { id: parent } = await campaign({
      campaign_type: "GIFT_VOUCHERS",
      voucher: { type: "GIFT_VOUCHER", gift: { amount: 1 } },
    });
    const { id } = await campaign({ campaign_type: "REFERRAL_PROGRAM" });
    const body = {
      name: "tier",
      condition: { type: "EACH_UNIQUE_REFEREE" },
      reward: { related_object_parent: { id: parent }, type: "GIFT_VOUCHER", amount: 1 },
    };
    const tiersPath = `/v1/referrals/${id}/tiers`;
    return { tiersPath, body, path: `${tiersPath}/${await idOf(api.post(tiersPath, body))}` };
  };
  const codes = await Promise.all(Array.from({ length: 10 }, () => voucher()));
  return {
    rule,
    customer,
    deletedCustomer,
    product,
    category,
    promotion,
    tiers,
    program,
    codes,
    gift: await voucher({ type: "GIFT_VOUCHER", discount: undefined, gift: { amount: 10_000 } }),
    sku: await idOf(api.post(`/v1/products/${product}/skus`, { sku: "s" })),
    order: await idOf(api.post("/v1/orders", { amount: 100 })),
    stack: await idOf(
      api.post(`/v1/promotions/${promotion}/stacks`, { name: "s", tiers: { ids: [tiers[0]] } }),
    ),
    rewards: await Promise.all([reward(), reward()]),
    campaigns: await Promise.all([1, 2, 3, 4, 5].map(() => campaign())),
    published: await campaign({ vouchers_count: 40 }),
    referralCode: await referralCode(),
    referralTier: await referralTier(),
    redemptions: await Promise.all([redeemed(), redeemed()]),
    apiKey: (await ok(management.post(`${path}/api-keys`, { name: "blocked", kind: "server" })))[
      "id"
    ],
    schema: await idOf(management.post(`${otherPath}/metadata-schemas`, schemaOf("sku"))),
    loyalty: await createLoyaltyFixtures(api, management, projectId),
    webhook: await idOf(
      management.post(`${path}/webhooks`, {
        target_url: "https://shop.example/",
        events: ["customer.deleted"],
      }),
    ),
    stackingPath: `${path}/stacking-rules`,
    otherStacking,
    otherSchemas: `${otherPath}/metadata-schemas`,
    otherId,
  };
}

export const ORDER: Json = { order: { amount: 1_000 } };
export const TIER: Json = { name: "tier", action: { discount: TEN_PERCENT } };
export const schemaOf = (resource: string): Json => ({
  related_object: resource,
  properties: { size: { type: "string" } },
});

/** One after the other, so that concurrent fixtures do not compete. */
async function inOrder<T>(works: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  for (const work of works) results.push(await work());
  return results;
}
