import type { Transport } from "@connectrpc/connect";
import { WebhookService } from "@scrip/proto/scrip/export/v1/webhooks_pb";
import { type Call, clientOf } from "@scrip/rpc";

/** The webhooks of a project. */
export type Webhooks = {
  /** Names of the events that active webhooks receive. */
  eventNames(call: Call): Promise<readonly string[]>;
};

export function createWebhooksClient(transport: Transport): Webhooks {
  const client = clientOf(WebhookService, transport);
  return {
    async eventNames(call) {
      const { data } = await client.listWebhooks({}, { ...call, idempotency: undefined });
      return data.flatMap(({ active, events }) => (active ? events : []));
    },
  };
}
