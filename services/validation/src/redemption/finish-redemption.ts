import { errorFromProto } from "@scrip/errors";
import { instantFromProto } from "@scrip/mapping";
import type { OrderItemInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type { ReplayData } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type {
  CommitOutcome,
  Redemption,
  CommittedRedemptions,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";

import { runPostCommit, retryWhileUnavailable } from "../commit/post-commit.ts";
import type { Deps } from "../deps.ts";
import { noteFromBytes } from "../mapping/redemption-note.ts";
import { repairOrder, storeOrder } from "../order/store-order.ts";
import type { OverridingOrder } from "../store/order-rows.ts";

/** What became of a decision, and what its answer shows beside; a repeat has kept that. */
export type CommittedDecision = { readonly outcome: CommitOutcome; readonly note?: ReplayData };

/** What was redeemed, now or by an earlier request with the same idempotency key. */
export type FinishedRedemption = {
  readonly made: CommittedRedemptions;
  readonly note: ReplayData;
};

/**
 * Gives the outcome its answer, and stores the order of the redemption. The commit was the truth:
 * when this process dies before the order is stored, a repeat or the redemption's event stores it.
 */
export async function finishRedemption(
  deps: Deps,
  call: Call,
  { outcome, note }: CommittedDecision,
  overrides: readonly OrderItemInput[],
): Promise<FinishedRedemption> {
  if (outcome.replayed) call.onReplay?.();
  switch (outcome.outcome.case) {
    case "committed": {
      const made = outcome.outcome.value;
      const whole = parentOrOnly(made);
      if (whole.order !== undefined) {
        const order = { projectId: call.project.id, order: whole.order, overrides };
        const storing = storeRedeemedOrder(deps, call, order, outcome.replayed ? whole : undefined);
        await runPostCommit(deps, "storing the order of a redemption", storing);
      }
      const isOurs = note !== undefined && !outcome.replayed;
      return { made, note: isOurs ? note : noteFromBytes(made.replayData) };
    }
    case "rejected":
      throw errorFromProto(outcome.outcome.value);
    default:
      throw new Error("a commit without an outcome");
  }
}

/** What stands for all that was redeemed: the parent, or the only one. */
function parentOrOnly({ redemptions, parentRedemption }: CommittedRedemptions): Redemption {
  const whole = parentRedemption ?? redemptions[0];
  if (whole === undefined) throw new Error("a redemption was committed and not answered");
  return whole;
}

/** A repeat only mends what is missing: the order may have moved on since the first answer. */
async function storeRedeemedOrder(
  deps: Deps,
  call: Call,
  order: Omit<OverridingOrder, "at">,
  repeated: Redemption | undefined,
): Promise<void> {
  if (repeated === undefined) {
    // The claim lasts longer than the request: nobody else has taken the order up meanwhile.
    const stored = { ...order, at: new Date(call.now) };
    await retryWhileUnavailable(() => storeOrder(deps, stored), call.deadline);
  } else if (repeated.date !== undefined) {
    await repairOrder(deps, { ...order, at: new Date(instantFromProto(repeated.date)) });
  }
}
