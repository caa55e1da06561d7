import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { OutboxEvent } from "@scrip/events";
import { SegmentEnteredSchema, SegmentLeftSchema } from "@scrip/proto/scrip/events/v1/customers_pb";

import type { SegmentMember } from "../domain/segment-members.ts";
import { CUSTOMERS_TOPIC } from "./topics.ts";

type Membership = SegmentMember & { readonly segmentName: string; readonly at: number };

/** The event of a customer who matches a segment and did not before, or the other way round. */
export function segmentMembershipEvent(
  id: string,
  change: "entered" | "left",
  { at, ...member }: Membership,
): OutboxEvent {
  const schema = change === "entered" ? SegmentEnteredSchema : SegmentLeftSchema;
  return {
    projectId: member.projectId,
    id,
    topic: CUSTOMERS_TOPIC,
    type: schema.typeName,
    key: member.customerId,
    payload: toBinary(schema, create(schema, { ...member, date: timestampFromMs(at) })),
  };
}
