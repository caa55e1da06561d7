import { create, toBinary } from "@bufbuild/protobuf";
import type { OutboxEvent } from "@scrip/events";
import { instantToProto, optionalInstantToProto } from "@scrip/mapping";
import { LoyaltyCardChangedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";

import type { CardDefinition } from "../domain/loyalty-card.ts";
import { VOUCHERS_TOPIC } from "./voucher-published.ts";

/** The event of a changed loyalty card. */
export const loyaltyCardChanged = (
  id: string,
  { projectId, id: voucherId, version, active, validity }: CardDefinition,
  at: number,
): OutboxEvent => ({
  projectId,
  id,
  topic: VOUCHERS_TOPIC,
  type: LoyaltyCardChangedSchema.typeName,
  key: voucherId,
  payload: toBinary(
    LoyaltyCardChangedSchema,
    create(LoyaltyCardChangedSchema, {
      projectId,
      voucherId,
      version,
      active: active !== false,
      startDate: optionalInstantToProto(validity.startDate),
      expirationDate: optionalInstantToProto(validity.expirationDate),
      date: instantToProto(at),
    }),
  ),
});
