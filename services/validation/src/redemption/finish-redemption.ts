import { errorFromProto } from "@scrip/errors";
import { instantFromProto } from "@scrip/mapping";
import type { OrderItemInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type { ReplayData } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type {
  CommitOutcome,
  Redemption,
  CommittedRedemptions,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { type Call, neededOriginOf } from "@scrip/rpc";

import type { WithCatalogueIds } from "../catalogue/catalogue-overrides.ts";
import { runPostCommit, retryWhileUnavailable } from "../commit/post-commit.ts";
import type { Deps } from "../deps.ts";
import { replayDataFromBytes } from "../mapping/replay-data.ts";
import { repairOrder, storeOrder } from "../order/store-order.ts";
import type { OverridingOrder } from "../store/order-rows.ts";

/** The outcome of a commit, with the response data of a new (not replayed) one. */
export type CommittedDecision = {
  readonly outcome: CommitOutcome;
  readonly replayData?: ReplayData;
};

/**
 * The committed redemptions of this request, or of an earlier one with the same idempotency key.
 */
export type FinishedRedemption = {
  readonly committed: CommittedRedemptions;
  readonly replayData: ReplayData;
};

/**
 * Turns the outcome into a result, and stores the order. The commit is the source of truth: if this
 * process dies before the order is stored, a replay or the redemption's event stores it.
 */
export async function finishRedemption(
  deps: Deps,
  call: Call,
  { outcome, replayData }: CommittedDecision,
  overrides: readonly OrderItemInput[],
): Promise<FinishedRedemption> {
  if (outcome.replayed) call.onReplay?.();
  switch (outcome.outcome.case) {
    case "committed": {
      const { replayed } = outcome;
      const commit = { committed: outcome.outcome.value, replayed };
      const committed = await storeOrderOfCommit(deps, call, commit, overrides);
      const isOurs = replayData !== undefined && !outcome.replayed;
      return {
        committed,
        replayData: isOurs ? replayData : replayDataFromBytes(committed.replayData),
      };
    }
    case "rejected":
      throw errorFromProto(outcome.outcome.value);
    default:
      throw new Error("the commit response has no outcome");
  }
}

/** Returns the redemptions with the ids of the products that their order has created, if it is stored in time. */
async function storeOrderOfCommit(
  deps: Deps,
  call: Call,
  { committed, replayed }: { readonly committed: CommittedRedemptions; readonly replayed: boolean },
  overrides: readonly OrderItemInput[],
): Promise<CommittedRedemptions> {
  const redemption = parentOrOnly(committed);
  if (redemption.order === undefined) return committed;
  const order = {
    projectId: call.project.id,
    order: redemption.order,
    overrides,
    origin: neededOriginOf(call),
  };
  let completed = committed;
  const store = async (): Promise<void> => {
    const withIds = await storeRedeemedOrder(deps, call, order, replayed ? redemption : undefined);
    if (overrides.length > 0) completed = withOverrideIds(committed, withIds);
  };
  await runPostCommit(deps, "storing the order of a redemption", store());
  return completed;
}

/** The parent of a stack, or the only redemption. */
function parentOrOnly({ redemptions, parentRedemption }: CommittedRedemptions): Redemption {
  const redemption = parentRedemption ?? redemptions[0];
  if (redemption === undefined) throw new Error("the commit response has no redemption");
  return redemption;
}

/** The commit does not know the ids of products that are created with the order; the stored order has them. */
function withOverrideIds(
  committed: CommittedRedemptions,
  withIds: WithCatalogueIds,
): CommittedRedemptions {
  const { redemptions, parentRedemption } = committed;
  const completed = (redemption: Redemption): Redemption =>
    redemption.order === undefined
      ? redemption
      : { ...redemption, order: withIds(redemption.order) };
  return {
    ...committed,
    redemptions: redemptions.map(completed),
    ...(parentRedemption !== undefined && { parentRedemption: completed(parentRedemption) }),
  };
}

/**
 * A replay only repairs a missing order: the stored one may have changed since. Returns what adds the ids of the products
 * that the order has created.
 */
async function storeRedeemedOrder(
  deps: Deps,
  call: Call,
  order: Omit<OverridingOrder, "at">,
  repeated: Redemption | undefined,
): Promise<WithCatalogueIds> {
  if (repeated === undefined) {
    // The claim outlasts the request, so no other request has changed the order.
    const stored = { ...order, at: new Date(call.now) };
    return retryWhileUnavailable(() => storeOrder(deps, stored), call.deadline);
  }
  const { date } = repeated;
  if (date === undefined) throw new Error("a redemption has no date");
  return repairOrder(deps, { ...order, at: new Date(instantFromProto(date)) });
}
