import { currentTime } from "@scrip/clock";
import { newId } from "@scrip/ids";

import type { NewDelivery } from "../store/webhook-deliveries.ts";
import { deliveryBody, type DeliveryContent } from "./delivery-body.ts";

/** The delivery of an event to a webhook, under one of its names. */
export function newDelivery(content: Omit<DeliveryContent, "id" | "sequence">): NewDelivery {
  const { name, event, webhook } = content;
  const id = newId("whs");
  return {
    projectId: event.projectId,
    webhookId: webhook.id,
    id,
    type: name,
    eventId: event.id,
    aggregateId: event.key,
    createdAt: new Date(currentTime()),
    isBulk: content.seen.isBulk === true,
    bodyOf: (sequence) => deliveryBody({ ...content, id, sequence }),
  };
}
