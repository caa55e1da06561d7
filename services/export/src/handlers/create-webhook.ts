import { randomBytes } from "node:crypto";

import { invalidPayload } from "@scrip/errors";
import type { WebhookService } from "@scrip/proto/scrip/export/v1/webhooks_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { webhookToProto } from "../mapping/webhook.ts";
import { countWebhooks, ensureSecret, insertWebhook } from "../store/webhooks.ts";
import { requireEvents, requireHeaders, requireTarget } from "../webhooks/check-webhook.ts";

const MAX_WEBHOOKS = 100;

export const createWebhook =
  (deps: Deps): Handler<typeof WebhookService.method.createWebhook> =>
  async ({ targetUrl, events, active = true, headers }, { project, now }) => {
    const webhook = {
      id: deps.newId("wh"),
      target_url: requireTarget(targetUrl, deps.webhooks),
      events: requireEvents(events),
      active,
      headers: requireHeaders(headers, deps.webhooks),
      created_at: new Date(now),
    };
    await deps.db.transaction(async (tx) => {
      // First: it also makes concurrent requests of the project wait, so that they count each other.
      await ensureSecret(tx, project.id, randomBytes(32).toString("hex"));
      if ((await countWebhooks(tx, project.id)) >= MAX_WEBHOOKS)
        throw invalidPayload(`A project has at most ${MAX_WEBHOOKS} webhooks`);
      await insertWebhook(tx, project.id, webhook);
    });
    return webhookToProto({ ...webhook, updated_at: null });
  };
