import { instantToProto, optionalInstantFromProto } from "@scrip/mapping";
import type { LiabilityService } from "@scrip/proto/scrip/loyalty/v1/liability_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { localDateAt } from "../domain/local-date.ts";
import { liabilityAsOf } from "../domain/points-as-of.ts";
import { sumProgramAsOf } from "../store/ledger-as-of.ts";

/** The list of months is bounded; custom dates may be in any year. */
const MAX_MONTHS = 120;

export const getLiability =
  (deps: Deps): Handler<typeof LiabilityService.method.getLiability> =>
  async ({ campaignId, asOf: requested }, { project, now }) => {
    const asOf = optionalInstantFromProto(requested) ?? now;
    const state = await sumProgramAsOf(deps.db, { projectId: project.id, campaignId, asOf });
    const liability = liabilityAsOf(state, localDateAt(project.timeZone, asOf));
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
