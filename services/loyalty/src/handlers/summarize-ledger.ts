import { optionalInstantFromProto } from "@scrip/mapping";
import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { type ProgramPeriod, sumLedgerByType } from "../store/ledger-entries.ts";
import { sumPendingChanges } from "../store/pending-changes.ts";

/** The figure that each type of entry counts in, and the sign with which it does. */
const FIGURES: Readonly<Record<string, readonly [figure: string, sign: 1n | -1n]>> = {
  POINTS_ACCRUAL: ["points_rewarded", 1n],
  PENDING_POINTS_ACTIVATION: ["pending_points_activated", 1n],
  POINTS_ADDITION: ["points_added", 1n],
  POINTS_REMOVAL: ["points_subtracted", -1n],
  POINTS_REDEMPTION: ["points_redeemed", -1n],
  POINTS_REFUND: ["points_rolledback", 1n],
  POINTS_EXPIRATION: ["points_expired", -1n],
  POINTS_TRANSFER_OUT: ["points_transferred_out", -1n],
  POINTS_TRANSFER_IN: ["points_transferred_in", 1n],
};

export const summarizeLedger =
  (deps: Deps): Handler<typeof CardService.method.summarizeLedger> =>
  async ({ campaignId, from, until }, call) => {
    const period: ProgramPeriod = {
      projectId: call.project.id,
      campaignId,
      from: optionalInstantFromProto(from),
      until: optionalInstantFromProto(until),
    };
    const sums = await sumLedgerByType(deps.db, period);
    const pending = await sumPendingChanges(deps.db, period);
    const figures = Object.fromEntries(
      Object.entries(FIGURES).map(([type, [figure, sign]]) => [
        figure,
        (sums.get(type) ?? 0n) * sign,
      ]),
    );
    // Points that become active later are rewarded, too.
    const activated = figures["pending_points_activated"] ?? 0n;
    figures["points_rewarded"] = (figures["points_rewarded"] ?? 0n) + activated;
    return {
      $typeName: "scrip.loyalty.v1.SummarizeLedgerResponse",
      figures: {
        ...figures,
        pending_points_added: pending.added,
        pending_points_subtracted: pending.subtracted,
        pending_points_canceled: pending.canceled,
      },
    };
  };
