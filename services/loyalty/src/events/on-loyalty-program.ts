import type { EventHandler } from "@scrip/events";
import { eventMessage } from "@scrip/events";
import { validityFromProto } from "@scrip/mapping";
import type { Database } from "@scrip/postgres";
import {
  type LoyaltyProgramChanged,
  LoyaltyProgramChangedSchema,
} from "@scrip/proto/scrip/events/v1/loyalty_programs_pb";

import { keyOf } from "../domain/key.ts";
import { type ProgramRecord, savePrograms } from "../store/loyalty-programs.ts";

export const CAMPAIGNS_TOPIC = "scrip.campaigns.v1";

/** Stores the state of loyalty programs: a repeated event stores the same again. */
export const onLoyaltyProgram =
  (db: Database): EventHandler =>
  async (events) => {
    const changes = events.flatMap(
      (event) => eventMessage(event, LoyaltyProgramChangedSchema) ?? [],
    );
    const latest = new Map(changes.map((one) => [keyOf(one.projectId, one.campaignId), one]));
    await savePrograms(db, [...latest.values()].map(programFromProto));
  };

const programFromProto = (program: LoyaltyProgramChanged): ProgramRecord => ({
  projectId: program.projectId,
  id: program.campaignId,
  name: program.name,
  active: program.active && !program.deleted,
  autoJoin: program.autoJoin,
  validity: validityFromProto(program),
  expirationRules: program.expirationRules ?? null,
  tiersExpiration: program.loyaltyTiersExpiration ?? null,
  initialPoints: program.initialPoints,
  deleted: program.deleted,
});
