import type { TransactionService } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { giftCampaignTransactions, programTransactions } from "../loading/card-transactions.ts";
import { findTypeOfCampaign } from "../store/campaign-vouchers.ts";

export const listCampaignTransactions =
  (deps: Deps): Handler<typeof TransactionService.method.listCampaignTransactions> =>
  async ({ campaignId, ...request }, call) => {
    const type = await findTypeOfCampaign(deps.db, call.project.id, campaignId);
    if (type === "LOYALTY_CARD") return programTransactions(deps, campaignId, { request, call });
    // Campaigns of discount vouchers have no ledger: an id that no campaign has lists nothing, after the same checks.
    const giftCampaignId = type === "GIFT_VOUCHER" ? campaignId : "";
    return giftCampaignTransactions(deps, giftCampaignId, { request, call });
  };
