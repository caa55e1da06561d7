import type { EventHandler } from "@scrip/events";
import { enqueue, eventMessage, originOf } from "@scrip/events";
import { validityFromProto } from "@scrip/mapping";
import {
  type LoyaltyProgramChanged,
  LoyaltyProgramChangedSchema,
} from "@scrip/proto/scrip/events/v1/loyalty_programs_pb";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { type ProgramRecord, savePrograms } from "../store/loyalty-programs.ts";
import { loyaltyTiersChangedEvent } from "./loyalty-tier-changed.ts";

export const CAMPAIGNS_TOPIC = "scrip.campaigns.v1";

/** Stores the state of loyalty programs: a repeated event stores the same again. */
export const onLoyaltyProgram =
  ({ db, newId, onEvents }: Pick<Deps, "db" | "newId" | "onEvents">): EventHandler =>
  async (events) => {
    const changes = events.flatMap((event) => {
      const program = eventMessage(event, LoyaltyProgramChangedSchema);
      return program === undefined ? [] : [{ program, origin: originOf(event) }];
    });
    const latest = new Map(
      changes.map(({ program }) => [keyOf(program.projectId, program.campaignId), program]),
    );
    const recalculated = changes.filter(({ program }) => program.recalculateTiers);
    await db.transaction(async (tx) => {
      await savePrograms(tx, [...latest.values()].map(programFromProto));
      const tierChanges = recalculated.map(({ program: { projectId, campaignId }, origin }) => ({
        ...loyaltyTiersChangedEvent(newId("event"), {
          projectId,
          campaignId,
          recalculate: true,
          afterCardId: "",
        }),
        origin,
      }));
      if (tierChanges.length > 0) await enqueue(tx, tierChanges, undefined);
    });
    if (recalculated.length > 0) onEvents();
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
