import type { ErrorKey } from "@scrip/errors";

import { pairOf } from "./error-case.ts";

/** Declared pairs that no HTTP request can provoke deterministically, with the reason. */
export const UNREACHABLE_OVER_HTTP: ReadonlyMap<string, string> = new Map([
  ...["TransactionService.ListMemberTransactions", "MemberService.ListPointsExpiration"].map(
    (rpc): [string, string] => [
      pairOf({ rpc, key: "invalid_voucher" }),
      "The gateway accepts loyalty programs only, whose vouchers are all loyalty cards; gRPC callers can name any campaign.",
    ],
  ),
  [
    pairOf({ rpc: "ImportService.ImportOrders", key: "resource_in_use" }),
    "Needs an import that is still running.",
  ],
]);

/** Keys of the catalogue that no case provokes, with the reason. */
export const UNPROVOKED_KEYS: ReadonlyMap<ErrorKey, string> = new Map([
  [
    "invalid_gift",
    "The contract bounds gift credits, so a negative number ends with invalid_payload; the decision checks it again.",
  ],
  ["request_timeout", "Sent to clients that take longer than 10 s to send their headers."],
  ["deadline_exceeded", "Needs a call that takes longer than its deadline."],
  ["internal_error", "Only a bug causes it."],
  ["not_implemented", "Needs a service without a handler; every RPC of a release has one."],
]);
