import type { Grant } from "../domain/earning/grants.ts";

/** What transactions and pending points show of a grant besides the balance. */
export const grantDetails = ({ trigger, rule }: Grant): Readonly<Record<string, unknown>> => ({
  ...(trigger.order !== null && {
    order: { id: trigger.order.id, source_id: trigger.order.sourceId },
  }),
  event: { id: trigger.eventId, type: trigger.eventType },
  earning_rule: { id: rule.id, source: { banner: rule.banner } },
  ...(trigger.order === null && { custom_event: { id: trigger.causeId, type: trigger.eventType } }),
  ...(rule.schemaId !== null && { event_schema: { id: rule.schemaId, name: rule.event } }),
});
