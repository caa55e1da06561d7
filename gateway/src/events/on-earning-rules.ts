import { type EventHandler, eventMessage } from "@scrip/events";
import { EarningRulesFoundSchema } from "@scrip/proto/scrip/events/v1/loyalty_programs_pb";

import { followEarningRules, type FollowProject } from "../projects/follow-project.ts";

export const PROGRAMS_TOPIC = "scrip.programs.v1";

/** Stores in projects that they have earning rules, whichever way these were created. Repeatable. */
export const onEarningRules =
  (followProject: FollowProject): EventHandler =>
  async (events) => {
    const found = events.flatMap(
      (event) => eventMessage(event, EarningRulesFoundSchema)?.projectId ?? [],
    );
    for (const projectId of new Set(found)) await followProject(projectId, followEarningRules);
  };
