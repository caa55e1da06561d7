import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Webhook as WebhookMessage,
  type WebhookDelivery,
  WebhookDeliverySchema,
  WebhookSchema,
} from "@scrip/proto/scrip/export/v1/webhooks_pb";

import type { StoredDelivery } from "../store/webhook-deliveries.ts";
import type { Webhook } from "../store/webhooks.ts";

export const webhookToProto = (webhook: Webhook): WebhookMessage =>
  create(WebhookSchema, {
    id: webhook.id,
    targetUrl: webhook.target_url,
    events: [...webhook.events],
    active: webhook.active,
    headers: { ...webhook.headers },
    createdAt: timestampFromDate(webhook.created_at),
    ...(webhook.updated_at && { updatedAt: timestampFromDate(webhook.updated_at) }),
  });

export const deliveryToProto = (delivery: StoredDelivery): WebhookDelivery =>
  create(WebhookDeliverySchema, {
    id: delivery.id,
    webhookId: delivery.webhook_id,
    type: delivery.type,
    eventId: delivery.event_id,
    aggregateId: delivery.aggregate_id,
    sequence: delivery.sequence,
    status: delivery.status,
    attempts: BigInt(delivery.attempts),
    createdAt: timestampFromDate(delivery.created_at),
    ...(delivery.next_attempt_at && {
      nextAttemptAt: timestampFromDate(delivery.next_attempt_at),
    }),
    ...(delivery.last_attempt_at && {
      lastAttemptAt: timestampFromDate(delivery.last_attempt_at),
    }),
    ...(delivery.response_status !== null && { responseStatus: BigInt(delivery.response_status) }),
    ...(delivery.error !== null && { error: delivery.error }),
    ...(delivery.duration_ms !== null && { durationMs: BigInt(delivery.duration_ms) }),
    ...(delivery.body !== null && { body: delivery.body }),
  });
