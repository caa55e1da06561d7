import type { MemberService } from "@scrip/proto/scrip/voucher/v1/members_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { programTransactions } from "../loading/card-transactions.ts";

export const listProgramTransactions =
  (deps: Deps): Handler<typeof MemberService.method.listProgramTransactions> =>
  ({ campaignId, ...request }, call) =>
    programTransactions(deps, campaignId, { request, call });
