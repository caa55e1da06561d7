import { notFound } from "@scrip/errors";
import type {
  UpdateWebhookRequest,
  WebhookService,
} from "@scrip/proto/scrip/export/v1/webhooks_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { webhookToProto } from "../mapping/webhook.ts";
import { findWebhook, updateWebhook as update, type Webhook } from "../store/webhooks.ts";
import { requireEvents, requireHeaders, requireTarget } from "../webhooks/check-webhook.ts";
import type { WebhookSettings } from "../webhooks/webhook-settings.ts";

export const updateWebhook =
  (deps: Deps): Handler<typeof WebhookService.method.updateWebhook> =>
  async (request, { project, now }) => {
    const webhook = await deps.db.transaction(async (tx) => {
      const current = await findWebhook(tx, project.id, request.webhookId, { lock: true });
      if (current === undefined) throw notFound("webhook", request.webhookId);
      const changed = {
        ...current,
        ...changesOf(request, deps.webhooks),
        updated_at: new Date(now),
      };
      await update(tx, project.id, changed);
      return changed;
    });
    deps.wakeWebhooks();
    return webhookToProto(webhook);
  };

function changesOf(
  { targetUrl, events, active, headers, updateMask }: UpdateWebhookRequest,
  settings: WebhookSettings,
): Partial<Webhook> {
  const sent = new Set(updateMask?.paths);
  return {
    ...(targetUrl !== undefined && { target_url: requireTarget(targetUrl, settings) }),
    ...((sent.has("events") || events.length > 0) && { events: requireEvents(events) }),
    ...(active !== undefined && { active }),
    ...((sent.has("headers") || Object.keys(headers).length > 0) && {
      headers: requireHeaders(headers, settings),
    }),
  };
}
