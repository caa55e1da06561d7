import { instantToProto } from "@scrip/mapping";
import type { PointsHoldPart } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { CommitOutcome, RedeemedPoints } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { ApplicableRedeemable } from "../domain/decision/decision.ts";
import type { DecisionContext } from "../mapping/decision-context.ts";
import { applicableOf, type Decided } from "../validation/decide.ts";

/** Held points of the redemption's loyalty cards, by the ids of their vouchers. */
export type PointsByCard = ReadonlyMap<string, RedeemedPoints>;

const NO_POINTS: PointsByCard = new Map();

type PointsPart = {
  readonly voucherId: string;
  readonly part: PointsHoldPart;
  readonly reward: RedeemedPoints["reward"];
};

/**
 * Commits with the points of loyalty cards held: the commit spends the hold, and a failed commit
 * releases it. Without cards nothing is called. If the points are no longer available, the outcome
 * is `stale` and the request is decided again.
 * services/decisions/0020-points-held-before-the-commit.md
 */
export async function commitWithPointsHeld(
  deps: Deps,
  call: Call,
  decided: { readonly decision: Decided; readonly context: DecisionContext },
  commit: (points: PointsByCard) => Promise<CommitOutcome>,
): Promise<CommitOutcome> {
  const parts = applicableOf(decided.decision).flatMap((evaluated) =>
    pointsPartOf(evaluated, decided.context),
  );
  if (parts.length === 0) return commit(NO_POINTS);
  const points = await holdPoints(deps, call, { parts, context: decided.context });
  if (points === null) return STALE;
  // If this throws, the outcome is unknown: the hold is resolved once it is known.
  const outcome = await commit(points);
  const isOurs = outcome.outcome.case === "committed" && !outcome.replayed;
  if (!isOurs) await releasePoints(deps, call, points);
  return outcome;
}

function pointsPartOf(
  { redeemable, benefit }: ApplicableRedeemable,
  { cards }: DecisionContext,
): PointsPart[] {
  if (benefit.kind !== "loyalty" || redeemable.object !== "voucher") return [];
  const { voucher, reward } = redeemable;
  if (voucher === null || reward === null || reward.assignment === null) return [];
  const { assignmentId, name, type } = reward.assignment;
  const card = cards.get(voucher.id);
  return [
    {
      voucherId: voucher.id,
      part: {
        $typeName: "scrip.loyalty.v1.PointsHoldPart",
        cardId: voucher.id,
        initialPoints: card?.balances?.points ?? 0n,
        points: benefit.points,
        rewardId: reward.id,
        takesStock: type === "MATERIAL",
        ...(voucher.campaign !== null && { campaignId: voucher.campaign.id }),
      },
      reward: {
        $typeName: "scrip.voucher.v1.RedemptionReward",
        id: reward.id,
        type,
        assignmentId,
        quantity: 1n,
        ...(name !== null && { name }),
        ...(card?.reward?.parameters !== undefined && { parameters: card.reward.parameters }),
        ...(card?.loyaltyTierId !== undefined && { loyaltyTierId: card.loyaltyTierId }),
      },
    },
  ];
}

/** Null if the points are no longer available. */
async function holdPoints(
  deps: Deps,
  call: Call,
  { parts, context }: { readonly parts: readonly PointsPart[]; readonly context: DecisionContext },
): Promise<PointsByCard | null> {
  const sessionKey = context.input.session?.key;
  const { outcome } = await deps.clients.holdPoints(
    {
      $typeName: "scrip.loyalty.v1.HoldPointsCommand",
      projectId: call.project.id,
      now: instantToProto(call.now),
      parts: parts.map(({ part }) => part),
      ...(call.idempotency !== undefined && { requestKey: call.idempotency.key }),
      ...(sessionKey !== undefined && { sessionKey }),
    },
    call,
  );
  if (outcome.case !== "held") return null;
  return new Map(
    parts.map(({ voucherId, part, reward }, index) => {
      const hold = outcome.value.holds[index];
      if (hold?.balances === undefined)
        throw new Error("the points hold of the response has no balances");
      const { points: cardPoints, balance, redeemedPoints } = hold.balances;
      return [
        voucherId,
        {
          $typeName: "scrip.voucher.v1.RedeemedPoints",
          holdId: hold.id,
          points: part.points,
          cardPoints,
          balance,
          redeemedPoints,
          ...(reward !== undefined && { reward }),
        },
      ];
    }),
  );
}

/** A hold that cannot be released here is released by a job of the voucher service. */
async function releasePoints(deps: Deps, call: Call, points: PointsByCard): Promise<void> {
  try {
    await Promise.all(
      [...points.values()].map(({ holdId }) =>
        deps.clients.releasePointsHold({
          $typeName: "scrip.voucher.v1.PointsHoldKey",
          projectId: call.project.id,
          holdId,
        }),
      ),
    );
  } catch (cause) {
    deps.onError(
      new Error("points could not be released yet; a job of the voucher service releases them", {
        cause,
      }),
    );
  }
}

const STALE: CommitOutcome = {
  $typeName: "scrip.voucher.v1.CommitOutcome",
  outcome: { case: "stale", value: { $typeName: "scrip.voucher.v1.StaleDecision", conflicts: [] } },
  replayed: false,
};
