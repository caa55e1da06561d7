import { create, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { OutboxEvent } from "@scrip/events";
import { CustomEventReceivedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";

import type { CustomEventRow } from "../store/custom-events.ts";
import { CUSTOMERS_TOPIC } from "./topics.ts";

export type ConvertedReferral = {
  readonly voucherId: string;
  readonly code: string;
  readonly campaignId: string;
  readonly referrerId: string;
};

/** The event of a stored custom event; it has the same id. */
export const customEventReceived = (
  projectId: string,
  row: CustomEventRow,
  referral: ConvertedReferral | undefined,
): OutboxEvent => ({
  projectId,
  id: row.id,
  topic: CUSTOMERS_TOPIC,
  type: CustomEventReceivedSchema.typeName,
  key: row.customer_id,
  payload: toBinary(
    CustomEventReceivedSchema,
    create(CustomEventReceivedSchema, {
      projectId,
      eventId: row.id,
      name: row.name,
      ...(row.schema_id !== null && { schemaId: row.schema_id }),
      customerId: row.customer_id,
      metadata: row.metadata as JsonObject,
      date: timestampFromDate(row.created_at),
      ...(row.loyalty_card_id !== null && { loyaltyCardId: row.loyalty_card_id }),
      ...(referral !== undefined && { referral }),
    }),
  ),
});
