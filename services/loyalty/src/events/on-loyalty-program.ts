import type { EventHandler } from "@scrip/events";
import { causedMessages, enqueue } from "@scrip/events";
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
    const changes = causedMessages(events, LoyaltyProgramChangedSchema);
    const latest = new Map(
      changes.map(({ message }) => [keyOf(message.projectId, message.campaignId), message]),
    );
    const recalculated = changes.filter(({ message }) => message.recalculateTiers);
    await db.transaction(async (tx) => {
      await savePrograms(tx, [...latest.values()].map(programFromProto));
      const tierChanges = recalculated.map(({ message: { projectId, campaignId }, origin }) => ({
        ...loyaltyTiersChangedEvent(newId("event"), {
          projectId,
          campaignId,
          recalculate: true,
          afterCardId: "",
        }),
        origin,
      }));
      await enqueue(tx, tierChanges, undefined);
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
