import { create } from "@bufbuild/protobuf";
import {
  ResolveTransactionDetailsResponseSchema,
  type TransactionService,
} from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { redemptionDetails, redemptionsOf } from "../loading/redemption-details.ts";

export const resolveTransactionDetails =
  (deps: Deps): Handler<typeof TransactionService.method.resolveTransactionDetails> =>
  async ({ transactions }) => {
    const redemptions = await redemptionsOf(deps, transactions);
    const results = transactions.map((cause) =>
      redemptionDetails(cause, redemptions.get(cause.redemptionId ?? "")),
    );
    return create(ResolveTransactionDetailsResponseSchema, { results });
  };
