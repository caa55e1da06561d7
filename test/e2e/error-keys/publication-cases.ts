import { type Json, newCode } from "../../stack/api.ts";
import type { ErrorCase } from "./error-case.ts";
import { ANN, program } from "./fixtures.ts";
import type { Shop } from "./shop.ts";

/** A voucher that another customer holds. */
const publishedVoucher = async (shop: Shop, fields: Json = {}): Promise<string> => {
  const voucher = await shop.voucher(fields);
  await shop.create("/v1/publications", { voucher, customer: { source_id: "bob" } });
  return voucher;
};

/** A source id that a publication has. */
const usedSourceId = async (shop: Shop): Promise<string> => {
  const source_id = newCode("publication");
  const voucher = await shop.voucher();
  await shop.create("/v1/publications", { voucher, customer: { source_id: "bob" }, source_id });
  return source_id;
};

/** A card of the program that nobody holds. */
const freeCard = async (shop: Shop, campaignId: string): Promise<string> =>
  (await shop.create(`/v1/campaigns/${campaignId}/vouchers`))["code"];

/** A loyalty program that issues no cards by itself, so that it runs out of them. */
const programWithoutCards = async (shop: Shop): Promise<string> => {
  const { id } = await shop.campaign({
    campaign_type: "LOYALTY_PROGRAM",
    type: "STATIC",
    vouchers_count: 0,
    voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 10 } },
  });
  return id;
};

/** A referral code that bob holds, as a path names it. */
async function referralCode(shop: Shop): Promise<Record<string, string>> {
  const { id } = await shop.campaign({ campaign_type: "REFERRAL_PROGRAM" });
  const { code } = await shop.create(`/v1/campaigns/${id}/vouchers`);
  await shop.create("/v1/publications", { voucher: code, customer: { source_id: "bob" } });
  return { campaign_id: id, member_id: code };
}

const giftCampaign = async (shop: Shop): Promise<string> =>
  (
    await shop.campaign({
      campaign_type: "GIFT_VOUCHERS",
      voucher: { type: "GIFT_VOUCHER", gift: { amount: 1 } },
    })
  )["id"];

const tierOf = (campaignId: string): Json => ({
  name: "tier",
  condition: { type: "EACH_UNIQUE_REFEREE" },
  reward: { related_object_parent: { id: campaignId }, type: "GIFT_VOUCHER", amount: 1 },
});

export const PUBLICATION_CASES: readonly ErrorCase[] = [
  {
    rpc: "PublicationService.CreatePublication",
    key: "forbidden",
    project: "closed",
    side: "client",
    request: { body: { voucher: "none", customer: ANN } },
  },
  {
    rpc: "PublicationService.CreatePublication",
    key: "missing_vouchers",
    request: { body: { customer: ANN } },
  },
  {
    rpc: "PublicationService.CreatePublication",
    key: "too_many_vouchers_requested",
    request: async (shop) => {
      const { name } = await shop.campaign();
      return { body: { customer: ANN, campaign: { name, count: 2 }, source_id: "one" } };
    },
  },
  {
    rpc: "PublicationService.CreatePublication",
    key: "duplicate_source_id",
    request: async (shop) => ({
      body: {
        customer: ANN,
        voucher: await shop.voucher(),
        source_id: await usedSourceId(shop),
      },
    }),
  },
  {
    rpc: "PublicationService.CreatePublication",
    key: "voucher_already_published",
    request: async (shop) => ({ body: { customer: ANN, voucher: await publishedVoucher(shop) } }),
  },
  {
    rpc: "PublicationService.CreatePublication",
    key: "voucher_cannot_be_published",
    request: async (shop) => {
      const campaignId = await program(shop);
      const customer = { source_id: newCode("member") };
      await shop.create(`/v1/loyalties/${campaignId}/members`, { customer });
      return { body: { customer, voucher: await freeCard(shop, campaignId) } };
    },
  },
  {
    rpc: "PublicationService.CreatePublication",
    key: "no_voucher_suitable_for_publication",
    request: async (shop) => {
      const { name } = await shop.campaign({ type: "STATIC", vouchers_count: 0 });
      return { body: { customer: ANN, campaign: { name } } };
    },
  },
  {
    rpc: "PublicationService.CreateMember",
    key: "duplicate_source_id",
    request: async (shop) => ({
      params: { campaign_id: await program(shop) },
      body: { customer: ANN, source_id: await usedSourceId(shop) },
    }),
  },
  {
    rpc: "PublicationService.CreateMember",
    key: "voucher_already_published",
    request: async (shop) => {
      const campaignId = await program(shop);
      const voucher = await freeCard(shop, campaignId);
      const member = { customer: { source_id: "bob" }, voucher };
      await shop.create(`/v1/loyalties/${campaignId}/members`, member);
      return { params: { campaign_id: campaignId }, body: { customer: ANN, voucher } };
    },
  },
  {
    rpc: "PublicationService.CreateMember",
    key: "voucher_cannot_be_published",
    request: async (shop) => {
      const campaignId = await program(shop);
      await shop.create(`/v1/loyalties/${campaignId}/members`, { customer: ANN });
      const voucher = await freeCard(shop, campaignId);
      return { params: { campaign_id: campaignId }, body: { customer: ANN, voucher } };
    },
  },
  {
    rpc: "PublicationService.CreateMember",
    key: "no_voucher_suitable_for_publication",
    request: async (shop) => ({
      params: { campaign_id: await programWithoutCards(shop) },
      body: { customer: ANN },
    }),
  },
  {
    rpc: "ReferralService.CreateHolders",
    key: "invalid_voucher",
    request: async (shop) => {
      const { id } = await shop.campaign();
      const { code } = await shop.create(`/v1/campaigns/${id}/vouchers`);
      return { params: { campaign_id: id, member_id: code }, body: { holders: [ANN] } };
    },
  },
  {
    rpc: "ReferralService.CreateHolders",
    key: "not_published",
    request: async (shop) => {
      const { id } = await shop.campaign({ campaign_type: "REFERRAL_PROGRAM" });
      const { code } = await shop.create(`/v1/campaigns/${id}/vouchers`);
      return { params: { campaign_id: id, member_id: code }, body: { holders: [ANN] } };
    },
  },
  {
    rpc: "ReferralService.CreateHolders",
    key: "duplicate_found",
    request: async (shop) => ({
      params: await referralCode(shop),
      body: { holders: [ANN, ANN] },
    }),
  },
  {
    rpc: "ReferralService.CreateHolders",
    key: "holder_assignement_duplication",
    request: async (shop) => ({
      params: await referralCode(shop),
      body: { holders: [{ source_id: "bob" }] },
    }),
  },
  {
    rpc: "ReferralService.DeleteHolder",
    key: "forbidden",
    request: async (shop) => {
      const params = await referralCode(shop);
      const { data } = (await shop.api.get(`/v1/referrals/members/${params["member_id"]}/holders`))
        .body;
      return { params: { ...params, holder_id: data[0].id } };
    },
  },
  {
    rpc: "ReferralTierService.CreateReferralTier",
    key: "invalid_campaign",
    request: async (shop) => ({
      params: { campaign_id: (await shop.campaign({ campaign_type: "REFERRAL_PROGRAM" }))["id"] },
      body: tierOf((await shop.campaign())["id"]),
    }),
  },
  {
    rpc: "ReferralTierService.CreateReferralTier",
    key: "invalid_campaign_params",
    request: async (shop) => {
      const { id } = await shop.campaign({ campaign_type: "REFERRAL_PROGRAM" });
      const body = tierOf(await giftCampaign(shop));
      for (let count = 0; count < 100; count += 1) {
        await shop.create(`/v1/referrals/${id}/tiers`, body);
      }
      return { params: { campaign_id: id }, body };
    },
  },
  {
    rpc: "ReferralTierService.UpdateReferralTier",
    key: "invalid_campaign",
    request: async (shop) => {
      const { id } = await shop.campaign({ campaign_type: "REFERRAL_PROGRAM" });
      const body = tierOf(await giftCampaign(shop));
      const tier = await shop.create(`/v1/referrals/${id}/tiers`, body);
      const { reward } = tierOf((await shop.campaign())["id"]);
      return { params: { campaign_id: id, tier_id: tier["id"] }, body: { reward } };
    },
  },
];
