import { currentTime } from "@scrip/clock";
import { ApiError } from "@scrip/errors";
import { instantToProto, optionalInstantFromProto } from "@scrip/mapping";
import type { LiabilityService } from "@scrip/proto/scrip/loyalty/v1/liability_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { localDateAt } from "../domain/local-date.ts";
import { addPoints, liabilityAsOf, NO_POINTS, type PointsAsOf } from "../domain/points-as-of.ts";
import { sumProgramAsOf } from "../store/ledger-as-of.ts";
import { sumProgram } from "../store/program-points.ts";

/** The list of months is bounded; custom dates may be in any year. */
const MAX_MONTHS = 120;

export const getLiability =
  (deps: Deps): Handler<typeof LiabilityService.method.getLiability> =>
  async ({ campaignId, asOf: requested }, call) => {
    const asOf = optionalInstantFromProto(requested) ?? call.now;
    const state = await sumCards(deps, call, {
      campaignId,
      ...(requested !== undefined && { asOf }),
    });
    const liability = liabilityAsOf(state, localDateAt(call.project.timeZone, asOf));
    const later = liability.expiring.slice(MAX_MONTHS);
    return {
      $typeName: "scrip.loyalty.v1.Liability",
      campaignId,
      asOf: instantToProto(asOf),
      cards: state.cards,
      outstandingPoints: liability.outstanding,
      pendingPoints: liability.pending,
      neverExpiringPoints: liability.neverExpiring,
      expiringPoints: liability.expiring.slice(0, MAX_MONTHS).map(({ month, points }) => ({
        $typeName: "scrip.loyalty.v1.ExpiringPoints" as const,
        month,
        points,
      })),
      expiringLaterPoints: later.reduce((sum, { points }) => sum + points, 0n),
    };
  };

/**
 * Page by page in one snapshot, whose memory does not grow with the program. What the cards have is stored; what they had at a time
 * takes adding up their entries.
 */
const sumCards = (
  { db }: Deps,
  { project, deadline }: Call,
  { campaignId, asOf }: { readonly campaignId: string; readonly asOf?: number },
): Promise<PointsAsOf> =>
  db.transaction(async (tx) => {
    await tx.query("set transaction isolation level repeatable read, read only");
    let sum = NO_POINTS;
    const program = { projectId: project.id, campaignId };
    const pages =
      asOf === undefined ? sumProgram(tx, program) : sumProgramAsOf(tx, { ...program, asOf });
    for await (const page of pages) {
      if (currentTime() > deadline) throw new ApiError("deadline_exceeded");
      sum = addPoints(sum, page);
    }
    return sum;
  });
