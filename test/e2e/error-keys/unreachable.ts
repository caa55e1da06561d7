import { pairOf } from "./error-case.ts";

/** Declared pairs that no HTTP request can provoke deterministically, with the reason. */
export const UNREACHABLE_OVER_HTTP: ReadonlyMap<string, string> = new Map([
  [
    pairOf({ rpc: "TransactionService.ListMemberTransactions", key: "invalid_voucher" }),
    "The gateway accepts loyalty programmes only, whose vouchers are all loyalty cards; gRPC callers can name any campaign.",
  ],
]);
