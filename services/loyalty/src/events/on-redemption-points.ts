import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, type EventHandler, eventMessage } from "@scrip/events";
import {
  type RedemptionMade,
  RedemptionMadeSchema,
  type RedemptionRolledBack,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";

import type { Deps } from "../deps.ts";
import { type End, type Refund, settle } from "../points/settle-points-holds.ts";
import { type Release, releaseLocks } from "../store/points-locks.ts";

type Told = {
  readonly ends: readonly End[];
  readonly refunds: readonly Refund[];
  readonly releases: readonly Release[];
};

/**
 * Takes the points of redemptions that were made, gives those of rollbacks back, and ends what sessions
 * held. Each spend ends once and each rollback is in the ledger once, so a repeat changes nothing and no
 * inbox is needed.
 */
export const onPoints =
  (deps: Pick<Deps, "db" | "newId">): EventHandler =>
  async (events) => {
    const told = events.map(read);
    const ends = told.flatMap((one) => one.ends);
    const refunds = told.flatMap((one) => one.refunds);
    if (ends.length + refunds.length > 0) await settle(deps, { ends, refunds });
    await releaseLocks(
      deps.db,
      told.flatMap((one) => one.releases),
    );
  };

const NOTHING: Told = { ends: [], refunds: [], releases: [] };

function read(event: DeliveredEvent): Told {
  const made = eventMessage(event, RedemptionMadeSchema);
  if (made !== undefined) return toldByRedemption(made);
  const back = eventMessage(event, RedemptionRolledBackSchema);
  return back === undefined ? NOTHING : toldByRollback(back);
}

function toldByRedemption(made: RedemptionMade): Told {
  const { projectId, redemptionId, pointsHoldId: spendId, sessionKey, date } = made;
  if (spendId === undefined && sessionKey === undefined) return NOTHING;
  return {
    ...NOTHING,
    ...(spendId !== undefined && { ends: [{ projectId, spendId, redemptionId }] }),
    ...(sessionKey !== undefined &&
      date !== undefined && {
        releases: [{ projectId, sessionKey, cardId: null, until: timestampMs(date) }],
      }),
  };
}

function toldByRollback(back: RedemptionRolledBack): Told {
  const { projectId, redemptionId, rollbackId, pointsHoldId: spendId, date } = back;
  if (spendId === undefined || date === undefined) return NOTHING;
  const refund = { projectId, spendId, redemptionId, rollbackId, at: timestampMs(date) };
  return { ...NOTHING, refunds: [refund] };
}
