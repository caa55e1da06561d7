import { notFound } from "@scrip/errors";
import type { WebhookService } from "@scrip/proto/scrip/export/v1/webhooks_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { webhookToProto } from "../mapping/webhook.ts";
import { findWebhook } from "../store/webhooks.ts";

export const getWebhook =
  (deps: Deps): Handler<typeof WebhookService.method.getWebhook> =>
  async ({ webhookId }, { project }) => {
    const webhook = await findWebhook(deps.db, project.id, webhookId);
    if (webhook === undefined) throw notFound("webhook", webhookId);
    return webhookToProto(webhook);
  };
