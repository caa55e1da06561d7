import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { notFound } from "@scrip/errors";
import {
  ReplayWebhookResponseSchema,
  type WebhookService,
} from "@scrip/proto/scrip/export/v1/webhooks_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { replayDeliveries } from "../store/webhook-deliveries.ts";
import { findWebhook } from "../store/webhooks.ts";

const LIMIT = 10_000;

export const replayWebhook =
  (deps: Deps): Handler<typeof WebhookService.method.replayWebhook> =>
  async ({ webhookId, since, until }, { project }) => {
    const replayed = await deps.db.transaction(async (tx) => {
      if ((await findWebhook(tx, project.id, webhookId, { lock: true })) === undefined)
        throw notFound("webhook", webhookId);
      return replayDeliveries(tx, {
        projectId: project.id,
        webhookId,
        since: since === undefined ? new Date(0) : timestampDate(since),
        until: until === undefined ? null : timestampDate(until),
        limit: LIMIT,
      });
    });
    deps.wakeWebhooks();
    const last = replayed.reduce((latest, at) => (at > latest ? at : latest), new Date(0));
    const hasMore = replayed.length === LIMIT;
    return create(ReplayWebhookResponseSchema, {
      replayed: BigInt(replayed.length),
      hasMore,
      ...(hasMore && { moreSince: timestampFromDate(last) }),
    });
  };
