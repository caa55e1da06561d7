import { ApiError, notFound } from "@scrip/errors";
import type { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { loadEntries } from "../loading/redemptions.ts";
import { recordCompletion } from "../reward/record-completion.ts";
import { lockRewardRedemption } from "../store/reward-redemptions.ts";

/** Marks a MATERIAL reward as handed out; a repeated request changes nothing. */
export const completeReward =
  (deps: Deps): Handler<typeof RedemptionService.method.completeReward> =>
  async ({ redemptionId }, call) => {
    const {
      project: { id: projectId },
      now: at,
    } = call;
    await deps.db.transaction(async (tx) => {
      const reward = await lockRewardRedemption(tx, { projectId, redemptionId });
      if (reward === undefined || reward.type !== "MATERIAL") {
        const [found] = await loadEntries(tx, projectId, [{ id: redemptionId, isRollback: false }]);
        if (found === undefined) throw notFound("redemption", redemptionId);
        throw new ApiError("invalid_redemption", {
          details: `Redemption ${redemptionId} has no MATERIAL reward to complete`,
        });
      }
      if (reward.status === "ROLLED_BACK") {
        throw new ApiError("already_rolled_back", {
          details: `Redemption ${redemptionId} was rolled back`,
        });
      }
      if (reward.status === "PENDING") {
        const given = { voucherId: null, ledgerVersion: null, at };
        await recordCompletion(tx, { deps, call }, reward, given);
      }
    });
    deps.onEvents();
    const [redemption] = await loadEntries(deps.db, projectId, [
      { id: redemptionId, isRollback: false },
    ]);
    if (redemption === undefined) throw notFound("redemption", redemptionId);
    return redemption;
  };
