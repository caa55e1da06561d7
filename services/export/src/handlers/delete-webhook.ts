import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { notFound } from "@scrip/errors";
import type { WebhookService } from "@scrip/proto/scrip/export/v1/webhooks_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteWebhook as remove } from "../store/webhooks.ts";

export const deleteWebhook =
  (deps: Deps): Handler<typeof WebhookService.method.deleteWebhook> =>
  async ({ webhookId }, { project }) => {
    if (!(await remove(deps.db, project.id, webhookId))) throw notFound("webhook", webhookId);
    return create(EmptySchema);
  };
