import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { OutboxEvent } from "@scrip/events";
import { CardRequestedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";

import { CUSTOMERS_TOPIC } from "./topics.ts";

/** Asks for a card of a program that the customer joins. */
export const cardRequestedEvent = (
  id: string,
  request: {
    readonly projectId: string;
    readonly customerId: string;
    readonly campaignId: string;
    readonly at: number;
  },
): OutboxEvent => ({
  projectId: request.projectId,
  id,
  topic: CUSTOMERS_TOPIC,
  type: CardRequestedSchema.typeName,
  key: request.customerId,
  payload: toBinary(
    CardRequestedSchema,
    create(CardRequestedSchema, {
      projectId: request.projectId,
      customerId: request.customerId,
      campaignId: request.campaignId,
      date: timestampFromMs(request.at),
    }),
  ),
});
