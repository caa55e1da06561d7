import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { ApiError, notFound } from "@scrip/errors";
import { enqueue } from "@scrip/events";
import type { ReferralService } from "@scrip/proto/scrip/voucher/v1/referrals_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { holderRemoved } from "../events/referees.ts";
import { requireReferralCode } from "../referral/find-code.ts";
import { deleteReferee, findHolderRole } from "../store/holders.ts";
import { lockVoucher } from "../voucher/edit-voucher.ts";

export const deleteHolder =
  (deps: Deps): Handler<typeof ReferralService.method.deleteHolder> =>
  async (request, call) => {
    const { holderId } = request;
    const { definition } = await requireReferralCode(deps, request, call);
    const { projectId, id: voucherId, campaignId } = definition;
    const key = { projectId, voucherId, holderId };
    const role = await findHolderRole(deps.db, key);
    if (role === undefined) throw notFound("redeemable_holder", holderId);
    if (role !== "REFEREE") {
      throw new ApiError("forbidden", {
        message: "Can not remove assignment",
        details: "You can not remove Referrer assignment",
      });
    }
    await deps.db.transaction(async (tx) => {
      // Events of a voucher are written under its lock.
      await lockVoucher(tx, projectId, voucherId);
      const customerId = await deleteReferee(tx, key);
      if (customerId === undefined) throw notFound("redeemable_holder", holderId);
      const referee = { projectId, voucherId, campaignId, customerId, id: holderId };
      await enqueue(tx, [holderRemoved(deps.newId("event"), referee, call.now)], call);
    });
    deps.onEvents();
    return create(EmptySchema);
  };
