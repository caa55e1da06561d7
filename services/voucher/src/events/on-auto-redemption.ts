import { setTimeout as pause } from "node:timers/promises";

import { create } from "@bufbuild/protobuf";
import { currentTime } from "@scrip/clock";
import {
  type DeliveredEvent,
  type EventHandler,
  eventMessage,
  type Origin,
  originOf,
} from "@scrip/events";
import {
  type AutoRedemptionHeld,
  AutoRedemptionHeldSchema,
} from "@scrip/proto/scrip/events/v1/points_pb";
import {
  type CommitOutcome,
  CommitRedemptionsRequestSchema,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { type Call, neededOriginOf } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { statusOf } from "../domain/redeemable-status.ts";
import { commitRedemptions } from "../handlers/commit-redemptions.ts";
import { CLAIM_RETENTION_HOURS } from "../jobs/delete-expired-claims.ts";
import { ownCall } from "../own-call.ts";
import { releasePointsHolds } from "../points/release-holds.ts";
import { isCampaignActive } from "../store/campaigns.ts";
import { findHoldClaims } from "../store/points-claims.ts";
import { findVouchersById } from "../store/vouchers.ts";

export const POINTS_TOPIC = "scrip.points.v1";

const CHANNEL = "AUTO_REDEEM";
/** Pauses between attempts: the card was edited, or another redemption holds its lock. Together some seconds. */
const PAUSES_MS = [200, 400, 800, 1_600, 3_200];
/** Half of the retention of claims: a younger event always finds the release of its hold, although clocks differ. */
const MAX_AGE_MS = (CLAIM_RETENTION_HOURS * 3_600_000) / 2;

/**
 * Commits redemptions whose points loyalty has held. A hold is claimed or released once, so a repeated event changes
 * nothing; a card that cannot be redeemed, or an event that arrives too late, returns the points.
 */
export function onAutoRedemption(deps: Deps): EventHandler {
  const commit = commitRedemptions(deps);
  return async (events, { signal }) => {
    for (const event of events) {
      const held = eventMessage(event, AutoRedemptionHeldSchema);
      if (held === undefined) continue;
      const { projectId, holdId } = held;
      const isDone =
        !isLate(event) && (await redeem(deps, commit, { held, origin: originOf(event), signal }));
      if (!isDone) await releasePointsHolds(deps, [{ projectId, holdId }]);
    }
  };
}

const isLate = ({ occurredAt }: DeliveredEvent): boolean =>
  currentTime() - occurredAt.getTime() > MAX_AGE_MS;

/** Returns false when the hold has to be released. */
async function redeem(
  deps: Deps,
  commit: ReturnType<typeof commitRedemptions>,
  {
    held,
    origin,
    signal,
  }: {
    readonly held: AutoRedemptionHeld;
    readonly origin: Origin | undefined;
    readonly signal: AbortSignal;
  },
): Promise<boolean> {
  const { projectId, holdId } = held;
  for (let attempt = 0; ; attempt += 1) {
    const call = await ownCall(deps, projectId, origin);
    if (call === undefined) return true;
    const [claim] = await findHoldClaims(deps.db, [{ projectId, holdId }]);
    if (claim !== undefined) return claim.redemptionId !== null;
    const version = await redeemableVersion(deps, held, call);
    if (version === null) return false;
    const { outcomes } = await commit(commandOf(held, { version, call }), call);
    if (outcomes[0]?.outcome.case === "committed") return true;
    const pauseMs = PAUSES_MS[attempt];
    if (pauseMs === undefined || !mayBeRepeated(outcomes[0])) return false;
    await pause(pauseMs, undefined, { signal });
  }
}

/** The version of the card's definition; null: it is disabled, outside its dates, or its program is. */
async function redeemableVersion(
  { db }: Deps,
  { projectId, cardId, balance, points }: AutoRedemptionHeld,
  { now }: Call,
): Promise<bigint | null> {
  const [card] = await findVouchersById(db, [{ projectId, id: cardId }]);
  if (card === undefined) return null;
  const { definition, usage } = card;
  const { campaignId } = definition;
  const isActive = campaignId === null || (await isCampaignActive(db, projectId, campaignId));
  const status = statusOf(definition, usage, {
    now,
    points: balance + points,
    isCampaignActive: isActive,
  });
  return status === "ACTIVE" ? usage.definitionVersion : null;
}

const commandOf = (
  held: AutoRedemptionHeld,
  { version, call }: { readonly version: bigint; readonly call: Call },
) => {
  const { reward, quantity, assignmentId, loyaltyTierId } = held;
  const caller = neededOriginOf(call)?.caller;
  return create(CommitRedemptionsRequestSchema, {
    commands: [
      {
        projectId: held.projectId,
        requestId: call.requestId,
        customerId: held.customerId,
        customer: { id: held.customerId },
        channel: { channelId: CHANNEL, channelType: CHANNEL },
        ...(caller !== undefined && { caller }),
        ...(held.date !== undefined && { now: held.date }),
        parts: [
          {
            redeemable: { case: "voucherId", value: held.cardId },
            definitionVersion: version,
            points: {
              holdId: held.holdId,
              points: held.points,
              cardPoints: held.cardPoints,
              balance: held.balance,
              redeemedPoints: held.redeemedPoints,
              reward: {
                id: reward?.id ?? "",
                type: reward?.type ?? "",
                assignmentId,
                quantity,
                ...(reward?.name !== undefined && { name: reward.name }),
                ...(reward?.parameters !== undefined && { parameters: reward.parameters }),
                ...(loyaltyTierId !== undefined && { loyaltyTierId }),
              },
            },
          },
        ],
      },
    ],
  });
};

const mayBeRepeated = (outcome: CommitOutcome | undefined): boolean =>
  outcome?.outcome.case === "stale" ||
  (outcome?.outcome.case === "rejected" && outcome.outcome.value.key === "service_unavailable");
