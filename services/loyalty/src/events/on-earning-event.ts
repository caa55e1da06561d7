import { type DeliveredEvent, type EventHandler, inboxHandler } from "@scrip/events";

import type { Deps } from "../deps.ts";
import { currentDefinitions, earn, type EarningEvent } from "../earning/earn.ts";
import { earningTriggerOf } from "../mapping/earning-trigger.ts";

/**
 * Earns points for paid orders and custom events, exactly once although events are delivered at least once. Events of
 * projects without earning rules have no effect and leave no record: most shops would store a row for each order. If one
 * is delivered again after the first rule was created, that is its first delivery with an effect.
 */
export const onEarningEvent =
  (deps: Deps): EventHandler =>
  async (events, context) => {
    const items = new Map(events.map((event) => [event, earningEventOf(event)]));
    const found = [...items.values()].filter((item) => item !== undefined);
    const definitions = await currentDefinitions(deps, found);
    const relevant = events.filter((event) => {
      const projectId = items.get(event)?.trigger.projectId;
      return projectId !== undefined && definitions.get(projectId)?.hasRules === true;
    });
    if (relevant.length === 0) return;
    const earnNew = inboxHandler<EarningEvent>(deps.db, {
      consumer: "earning",
      read: (event) => items.get(event),
      work: (tx, fresh) => earn(tx, deps, { items: fresh, definitions }),
    });
    await earnNew(relevant, context);
    deps.onEvents();
  };

function earningEventOf(event: DeliveredEvent): EarningEvent | undefined {
  const trigger = earningTriggerOf(event);
  return trigger && { trigger, event };
}
