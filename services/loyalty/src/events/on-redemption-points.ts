import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, type EventHandler, eventMessage, originOf } from "@scrip/events";
import {
  type RedemptionMade,
  RedemptionMadeSchema,
  type RedemptionRolledBack,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import type { HoldResolution, PointsRefund } from "../domain/resolve-holds.ts";
import { originsOfCards } from "../points/card-origins.ts";
import { resolveHolds } from "../points/resolve-holds.ts";
import { settleCards } from "../points/settle-cards.ts";
import { type PointsRelease, releaseLocks } from "../store/points-locks.ts";

type PointsEffects = {
  readonly resolutions: readonly HoldResolution[];
  readonly refunds: readonly PointsRefund[];
  readonly releases: readonly PointsRelease[];
};

/**
 * Claims the holds of redemptions, refunds those of rollbacks, and releases the locks of sessions that were
 * redeemed. A hold is resolved once and a rollback refunded once, so repeats need no inbox.
 */
export const onRedemptionPoints =
  (deps: Pick<Deps, "db" | "newId" | "tiers" | "onEvents">): EventHandler =>
  async (events) => {
    const effects = events.map(effectsOf);
    const resolutions = effects.flatMap((effect) => effect.resolutions);
    const refunds = effects.flatMap((effect) => effect.refunds);
    if (resolutions.length + refunds.length > 0) {
      const cards = await resolveHolds(deps, { resolutions, refunds });
      const origins = new Map(
        events.flatMap((event, index) =>
          holdsOf(effects[index] ?? NO_EFFECTS).map(
            ({ projectId, holdId }) => [keyOf(projectId, holdId), originOf(event)] as const,
          ),
        ),
      );
      const causes = cards.map((card) => ({
        card,
        origin: origins.get(keyOf(card.projectId, card.id)),
      }));
      const options = { originOf: originsOfCards(causes) };
      await deps.db.transaction((tx) => settleCards(tx, deps, cards, options));
      deps.onEvents();
    }
    await releaseLocks(
      deps.db,
      effects.flatMap((effect) => effect.releases),
    );
  };

const NO_EFFECTS: PointsEffects = { resolutions: [], refunds: [], releases: [] };

const holdsOf = ({ resolutions, refunds }: PointsEffects) => [...resolutions, ...refunds];

function effectsOf(event: DeliveredEvent): PointsEffects {
  const redemption = eventMessage(event, RedemptionMadeSchema);
  if (redemption !== undefined) return effectsOfRedemption(redemption);
  const rollback = eventMessage(event, RedemptionRolledBackSchema);
  return rollback === undefined ? NO_EFFECTS : effectsOfRollback(rollback);
}

function effectsOfRedemption(redemption: RedemptionMade): PointsEffects {
  const { projectId, redemptionId, pointsHoldId: holdId, sessionKey, date } = redemption;
  if (holdId === undefined && sessionKey === undefined) return NO_EFFECTS;
  return {
    ...NO_EFFECTS,
    ...(holdId !== undefined && { resolutions: [{ projectId, holdId, redemptionId }] }),
    ...(sessionKey !== undefined &&
      date !== undefined && {
        releases: [{ projectId, sessionKey, cardId: null, until: timestampMs(date) }],
      }),
  };
}

function effectsOfRollback(rollback: RedemptionRolledBack): PointsEffects {
  const { projectId, redemptionId, rollbackId, pointsHoldId: holdId, date } = rollback;
  if (holdId === undefined || date === undefined) return NO_EFFECTS;
  const refund = { projectId, holdId, redemptionId, rollbackId, at: timestampMs(date) };
  return { ...NO_EFFECTS, refunds: [refund] };
}
