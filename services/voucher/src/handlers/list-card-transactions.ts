import type { TransactionService } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { cardTransactions, requireCard } from "../loading/card-transactions.ts";

export const listCardTransactions =
  (deps: Deps): Handler<typeof TransactionService.method.listCardTransactions> =>
  async (request, call) => {
    const card = await requireCard(deps, request.code, { call });
    return cardTransactions(deps, card, { request, call });
  };
