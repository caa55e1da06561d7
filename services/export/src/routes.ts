import { keyedHandlers } from "@scrip/idempotency";
import { AsyncActionService } from "@scrip/proto/scrip/export/v1/async_actions_pb";
import { WebhookService } from "@scrip/proto/scrip/export/v1/webhooks_pb";
import type { Implementation } from "@scrip/rpc";

import { bindToRequest, type Deps } from "./deps.ts";
import { createWebhook } from "./handlers/create-webhook.ts";
import { deleteWebhook } from "./handlers/delete-webhook.ts";
import { getAsyncAction } from "./handlers/get-async-action.ts";
import { getWebhookDelivery } from "./handlers/get-webhook-delivery.ts";
import { getWebhookSecret } from "./handlers/get-webhook-secret.ts";
import { getWebhook } from "./handlers/get-webhook.ts";
import { listAsyncActions } from "./handlers/list-async-actions.ts";
import { listWebhookDeliveries } from "./handlers/list-webhook-deliveries.ts";
import { listWebhooks } from "./handlers/list-webhooks.ts";
import { regenerateWebhookSecret } from "./handlers/regenerate-webhook-secret.ts";
import { replayWebhook } from "./handlers/replay-webhook.ts";
import { updateWebhook } from "./handlers/update-webhook.ts";

/** The RPCs of this service. */
export const routes = (deps: Deps): readonly Implementation[] => {
  const implement = keyedHandlers(deps, bindToRequest);
  return [
    implement(WebhookService, {
      createWebhook,
      listWebhooks,
      getWebhook,
      updateWebhook,
      deleteWebhook,
      getWebhookSecret,
      regenerateWebhookSecret,
      listWebhookDeliveries,
      getWebhookDelivery,
      replayWebhook,
    }),
    implement(AsyncActionService, { listAsyncActions, getAsyncAction }),
  ];
};
