import { eventSourceOf, type Origin } from "@scrip/events";

import { isCustomEvent } from "../domain/earning/earning-rule.ts";
import type { Grant } from "../domain/earning/grants.ts";

/** What pending points show of a grant: more of the event than transactions do. */
export const pendingDetails = (
  grant: Grant,
  origin: Origin | undefined,
): Readonly<Record<string, unknown>> => {
  const { eventId, eventType, customerId, order, at } = grant.trigger;
  return {
    ...grantDetails(grant),
    event: {
      id: eventId,
      type: eventType,
      group_id: origin?.requestId ?? eventId,
      entity_id: order?.id ?? customerId,
      created_at: new Date(at).toISOString(),
      category: "EFFECT",
      event_source: origin === undefined ? { channel: "API" } : eventSourceOf(origin),
    },
  };
};

/** What transactions and pending points show of a grant besides the balance. */
export const grantDetails = ({
  trigger,
  rule,
  tier,
}: Grant): Readonly<Record<string, unknown>> => ({
  ...(trigger.order !== null && {
    order: { id: trigger.order.id, source_id: trigger.order.sourceId },
  }),
  event: { id: trigger.eventId, type: trigger.eventType },
  earning_rule: { id: rule.id, source: { banner: rule.banner } },
  ...(isCustomEvent(trigger.event) && {
    custom_event: { id: trigger.causeId, type: trigger.eventType },
  }),
  ...(rule.segmentId !== null && { segment: { id: rule.segmentId } }),
  ...(tier !== null && { holder_loyalty_tier: { id: tier.id, name: tier.name } }),
  ...(tier?.earningRules.has(rule.id) === true && {
    loyalty_tier: { id: tier.id, name: tier.name },
  }),
  ...(rule.schemaId !== null && { event_schema: { id: rule.schemaId, name: rule.event } }),
});
