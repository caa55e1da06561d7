import type {
  CustomerLoyalty,
  CustomerLoyaltyCampaign,
  CustomerProfile,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Holdings } from "@scrip/proto/scrip/voucher/v1/publications_pb";

/** The fields of a customer that depend on what they hold (services/decisions/0023). */
export function customerHoldings(
  { loyalty, summary }: CustomerProfile,
  { giftBalance, redeemedPoints, campaigns }: Holdings,
): Partial<CustomerProfile> {
  const points = campaigns.reduce((sum, campaign) => sum + campaign.points, 0n);
  const redemptions = summary?.redemptions;
  return {
    loyalty: loyalty && { ...loyalty, points, campaigns: campaignsOf(loyalty, campaigns) },
    summary: summary && {
      ...summary,
      redemptions: redemptions && {
        ...redemptions,
        gift: redemptions.gift && { ...redemptions.gift, amountToGo: giftBalance },
        loyaltyCard: redemptions.loyaltyCard && {
          ...redemptions.loyaltyCard,
          redeemedPoints,
          pointsToGo: points,
        },
      },
    },
  };
}

const campaignsOf = (
  { referredByCampaign, tierByCampaign }: CustomerLoyalty,
  campaigns: Holdings["campaigns"],
): CustomerLoyalty["campaigns"] =>
  Object.fromEntries(
    campaigns.map(({ campaignId, name, points }): [string, CustomerLoyaltyCampaign] => {
      const loyaltyTier = tierByCampaign[campaignId];
      return [
        name,
        {
          $typeName: "scrip.loyalty.v1.CustomerLoyaltyCampaign",
          points,
          ...(loyaltyTier !== undefined && { loyaltyTier }),
          referredCustomers: referredByCampaign[campaignId] ?? 0n,
        },
      ];
    }),
  );
