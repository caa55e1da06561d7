import { create } from "@bufbuild/protobuf";
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
  async (_, { project }) => {
    const webhooks = await list(deps.db, project.id, LIMIT);
    return create(ListWebhooksResponseSchema, {
      data: webhooks.map(webhookToProto),
      total: BigInt(webhooks.length),
    });
  };
