import { notFound } from "@scrip/errors";
import type { WebhookService } from "@scrip/proto/scrip/export/v1/webhooks_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deliveryToProto } from "../mapping/webhook.ts";
import { findDelivery } from "../store/webhook-deliveries.ts";

export const getWebhookDelivery =
  (deps: Deps): Handler<typeof WebhookService.method.getWebhookDelivery> =>
  async ({ webhookId, deliveryId }, { project }) => {
    const delivery = await findDelivery(deps.db, project.id, webhookId, deliveryId);
    if (delivery === undefined) throw notFound("webhook_delivery", deliveryId);
    return deliveryToProto(delivery);
  };
