import { type DeliveredEvent, eventSourceOf, originOf } from "@scrip/events";

import type { Subscriber } from "../store/webhooks.ts";
import type { WebhookEvent } from "./event-sources.ts";

export type DeliveryContent = {
  readonly id: string;
  readonly name: string;
  readonly event: Pick<DeliveredEvent, "id" | "projectId" | "key" | "headers">;
  readonly seen: Omit<WebhookEvent, "names" | "loadData">;
  readonly webhook: Subscriber;
  /** JSON text. */
  readonly data: string;
  readonly sequence: bigint;
};

/** The body of a request (docs/webhooks.md#request): JSON without whitespace, in a fixed order. */
export function deliveryBody({
  id,
  name,
  event,
  seen,
  webhook,
  data,
  sequence,
}: DeliveryContent): string {
  const head = JSON.stringify({
    id,
    project_id: event.projectId,
    created_at: seen.date,
    type: name,
  });
  const origin = originOf(event);
  const { channel, api_key } =
    origin === undefined ? { channel: seen.channel, api_key: null } : eventSourceOf(origin);
  const tail = JSON.stringify({
    source: { object: "webhook", webhook: { id: webhook.id, target_url: webhook.target_url } },
    event: {
      id: event.id,
      type: name,
      created_at: seen.date,
      entity_id: seen.entityId,
      aggregate_id: event.key,
      sequence: Number(sequence),
      group_id: origin?.requestId ?? seen.groupId ?? event.id,
      event_source: { channel, user: null, api_key },
    },
  });
  return `${head.slice(0, -1)},"data":${data},${tail.slice(1)}`;
}
