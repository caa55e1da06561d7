import type { Queryable } from "@scrip/postgres";
import { DEFAULT_TIER_POLICY, parseTierPolicy, type TierPolicy } from "@scrip/rules";

import { keyOf } from "../domain/key.ts";
import type { LoyaltyMember, LoyaltyProgram } from "../domain/loyalty-program.ts";
import type { TierProgram } from "../domain/tiers/follow-ledger.ts";
import type { ProjectTiers } from "../loading/loyalty-tiers.ts";
import { findPrograms } from "../store/loyalty-programs.ts";
import {
  DEFAULT_CALENDAR,
  findCalendars,
  type ProjectCalendar,
} from "../store/project-calendars.ts";

/** A program with tiers, as its members are evaluated. */
export type CalendarProgram = TierProgram & { readonly calendar: ProjectCalendar };

export type ProgramOf = (card: {
  readonly projectId: string;
  readonly campaignId: string;
}) => CalendarProgram;

/** The programs of members with their tiers, policies and calendars. */
export async function loadTierPrograms(
  tx: Queryable,
  members: readonly LoyaltyMember[],
  tiers: ReadonlyMap<string, ProjectTiers>,
): Promise<ProgramOf> {
  const [programs, calendars] = await Promise.all([
    findPrograms(
      tx,
      members.map(({ projectId, campaignId }) => ({ projectId, campaignId: campaignId ?? "" })),
    ),
    findCalendars(tx, [...tiers.keys()]),
  ]);
  return ({ projectId, campaignId }) => ({
    tiers: tiers.get(projectId)?.get(campaignId) ?? [],
    policy: policyOf(programs.get(keyOf(projectId, campaignId))),
    calendar: calendars.get(projectId) ?? DEFAULT_CALENDAR,
  });
}

/** Settings that were stored before they were checked count as absent. */
function policyOf(program: LoyaltyProgram | undefined): TierPolicy {
  const parsed = parseTierPolicy(program?.tiersExpiration ?? null);
  return "policy" in parsed ? parsed.policy : DEFAULT_TIER_POLICY;
}
