import type { ReferralService } from "@scrip/proto/scrip/voucher/v1/referrals_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { upsertCustomers } from "../loading/customers.ts";
import { holderToProto } from "../mapping/holder.ts";
import { assignReferees } from "../referral/assign-referees.ts";
import { checkReferees } from "../referral/check-referees.ts";
import { requireMember } from "../referral/find-code.ts";

export const createHolders =
  (deps: Deps): Handler<typeof ReferralService.method.createHolders> =>
  async (request, call) => {
    const { holders: references, metadata = {} } = request;
    const { definition } = await requireMember(deps, request, call);
    // Customers are created and updated last, so that a rejected request leaves them as they are.
    await checkReferees(deps, { definition, references, call });
    const customers = await upsertCustomers(deps, references, call);
    const customerIds = customers.map(({ id }) => id);
    const holders = await assignReferees(deps, {
      voucherId: definition.id,
      customerIds,
      metadata,
      call,
    });
    return {
      $typeName: "scrip.voucher.v1.CreateHoldersResponse",
      holders: holders.map((holder) => holderToProto(holder)),
    };
  };
