import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { notFound } from "@scrip/errors";
import type { WebhookService } from "@scrip/proto/scrip/export/v1/webhooks_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deletePartOfWebhook, hideWebhook } from "../store/deleted-webhooks.ts";

/** Deletes a part of the deliveries, mostly all; a job deletes the others. */
export const deleteWebhook =
  (deps: Deps): Handler<typeof WebhookService.method.deleteWebhook> =>
  async ({ webhookId }, { project }) => {
    const webhook = { projectId: project.id, webhookId };
    if (!(await hideWebhook(deps.db, webhook))) throw notFound("webhook", webhookId);
    await deletePartOfWebhook(deps.db, webhook);
    return create(EmptySchema);
  };
