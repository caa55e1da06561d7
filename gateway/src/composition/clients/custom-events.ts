import type { Transport } from "@connectrpc/connect";
import {
  CustomEventService,
  type EventSchema,
} from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import { type Call, clientOf } from "@scrip/rpc";

/** The custom events that projects define. */
export type CustomEvents = {
  list(call: Call): Promise<readonly EventSchema[]>;
};

export function createCustomEventsClient(transport: Transport): CustomEvents {
  const client = clientOf(CustomEventService, transport);
  return {
    list: async (call) => {
      const request = { projectId: call.project.id };
      const { data } = await client.listCustomEventSchemas(request, {
        ...call,
        idempotency: undefined,
      });
      return data;
    },
  };
}
