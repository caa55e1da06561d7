import { create } from "@bufbuild/protobuf";
import { inTimeRange } from "@scrip/filters";
import {
  ListWebhooksResponseSchema,
  type WebhookService,
} from "@scrip/proto/scrip/export/v1/webhooks_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { webhookToProto } from "../mapping/webhook.ts";
import { listWebhooks as list } from "../store/webhooks.ts";

/** Above the number of webhooks that a project may have. */
const LIMIT = 1_000;

export const listWebhooks =
  (deps: Deps): Handler<typeof WebhookService.method.listWebhooks> =>
  async ({ createdAt }, { project }) => {
    const all = await list(deps.db, project.id, LIMIT);
    const webhooks = all.filter((webhook) => inTimeRange(webhook.created_at, createdAt));
    return create(ListWebhooksResponseSchema, {
      data: webhooks.map(webhookToProto),
      total: BigInt(webhooks.length),
    });
  };
