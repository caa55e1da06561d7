import { type EventHandler, inboxHandler } from "@scrip/events";

import type { Deps } from "../deps.ts";
import { type EarningEvent, earn } from "../earning/earn.ts";
import { earningTriggerOf } from "../mapping/earning-trigger.ts";

/** Earns points for paid orders and custom events, exactly once although events are delivered at least once. */
export const onEarningEvent =
  (deps: Deps): EventHandler =>
  async (events, context) => {
    await earnNew(deps)(events, context);
    deps.onEvents();
  };

const earnNew = (deps: Deps): EventHandler =>
  inboxHandler<EarningEvent>(deps.db, {
    consumer: "earning",
    read: (event) => {
      const trigger = earningTriggerOf(event);
      return trigger && { trigger, event };
    },
    work: (tx, items) => earn(tx, deps, items),
  });
