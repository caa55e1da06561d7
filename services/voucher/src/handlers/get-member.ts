import type { MemberService } from "@scrip/proto/scrip/voucher/v1/members_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { withCurrentBalance } from "../loading/card-balances.ts";
import { requireCard } from "../loading/card-transactions.ts";
import { voucherToProto } from "../mapping/voucher.ts";

export const getMember =
  (deps: Deps): Handler<typeof MemberService.method.getMember> =>
  async ({ memberId, campaignId, asOf }, call) => {
    const card = await requireCard(deps, memberId, { call, campaignId });
    return withCurrentBalance(deps, voucherToProto(card), call, asOf);
  };
