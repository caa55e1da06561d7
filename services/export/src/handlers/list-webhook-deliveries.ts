import { create } from "@bufbuild/protobuf";
import { notFound } from "@scrip/errors";
import {
  ListWebhookDeliveriesResponseSchema,
  type WebhookService,
} from "@scrip/proto/scrip/export/v1/webhooks_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deliveryToProto } from "../mapping/webhook.ts";
import { listDeliveries } from "../store/webhook-deliveries.ts";
import { findWebhook } from "../store/webhooks.ts";

const DEFAULT_LIMIT = 10n;

export const listWebhookDeliveries =
  (deps: Deps): Handler<typeof WebhookService.method.listWebhookDeliveries> =>
  async ({ webhookId, limit = DEFAULT_LIMIT, startingAfterId, status, createdAt }, { project }) => {
    if ((await findWebhook(deps.db, project.id, webhookId)) === undefined)
      throw notFound("webhook", webhookId);
    const size = Number(limit);
    const found = await listDeliveries(deps.db, {
      projectId: project.id,
      webhookId,
      status,
      createdAt,
      after: startingAfterId,
      limit: size + 1,
    });
    const page = found.slice(0, size);
    const last = page.at(-1);
    const hasMore = found.length > size;
    return create(ListWebhookDeliveriesResponseSchema, {
      data: page.map(deliveryToProto),
      hasMore,
      ...(hasMore && last !== undefined && { moreStartingAfter: last.id }),
    });
  };
