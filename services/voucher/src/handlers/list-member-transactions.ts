import type { TransactionService } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { cardTransactions, requireCard } from "../loading/card-transactions.ts";

export const listMemberTransactions =
  (deps: Deps): Handler<typeof TransactionService.method.listMemberTransactions> =>
  async (request, call) => {
    const { memberId, campaignId } = request;
    const card = await requireCard(deps, memberId, { call, campaignId });
    return cardTransactions(deps, card, { request, call });
  };
