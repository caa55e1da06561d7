import type {
  HeldCampaign,
  Holdings,
  PublicationService,
} from "@scrip/proto/scrip/voucher/v1/publications_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rowKey } from "../domain/usage.ts";
import { loadCardBalances } from "../loading/card-balances.ts";
import type { CardBalances } from "../mapping/points.ts";
import { findHoldings, type HeldVoucher } from "../store/holdings.ts";

export const summarizeHoldings =
  (deps: Deps): Handler<typeof PublicationService.method.summarizeHoldings> =>
  async ({ queries }, call) => {
    const held = await findHoldings(deps.db, queries);
    const cards = held.flatMap(({ vouchers }, index) =>
      vouchers.flatMap(({ voucherId, initialPoints }) =>
        initialPoints === null
          ? []
          : [{ projectId: queries[index]?.projectId ?? "", cardId: voucherId, initialPoints }],
      ),
    );
    const balances = await loadCardBalances(deps, cards, call);
    return {
      $typeName: "scrip.voucher.v1.SummarizeHoldingsResponse",
      results: held.map(({ giftBalance, vouchers }, index) =>
        holdingsToProto(giftBalance, vouchers, ({ voucherId }) =>
          balances.get(rowKey(queries[index]?.projectId ?? "", voucherId)),
        ),
      ),
    };
  };

function holdingsToProto(
  giftBalance: bigint,
  vouchers: readonly HeldVoucher[],
  balancesOf: (voucher: HeldVoucher) => CardBalances | undefined,
): Holdings {
  const campaigns = new Map<string, HeldCampaign>();
  let redeemedPoints = 0n;
  for (const voucher of vouchers) {
    const card = balancesOf(voucher);
    redeemedPoints += card?.redeemedPoints ?? 0n;
    // Loyalty cards and referral codes always belong to a campaign.
    const { campaignId, campaignName } = voucher;
    if (campaignId === null) continue;
    const points = (campaigns.get(campaignId)?.points ?? 0n) + (card?.balance ?? 0n);
    campaigns.set(campaignId, {
      $typeName: "scrip.voucher.v1.HeldCampaign",
      campaignId,
      name: campaignName ?? campaignId,
      points,
    });
  }
  return {
    $typeName: "scrip.voucher.v1.Holdings",
    giftBalance,
    redeemedPoints,
    campaigns: [...campaigns.values()],
  };
}
