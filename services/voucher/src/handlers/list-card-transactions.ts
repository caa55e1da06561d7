import type { TransactionService } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  cardTransactions,
  giftTransactions,
  requireVoucher,
} from "../loading/card-transactions.ts";

export const listCardTransactions =
  (deps: Deps): Handler<typeof TransactionService.method.listCardTransactions> =>
  async (request, call) => {
    const voucher = await requireVoucher(deps, request.code, { call });
    const { type } = voucher.definition;
    if (type === "LOYALTY_CARD") return cardTransactions(deps, voucher, { request, call });
    // A discount voucher has no ledger: its list is empty, and invalid filters are rejected all the same.
    return giftTransactions(deps, voucher, { request, call });
  };
