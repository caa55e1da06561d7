import { create, toBinary } from "@bufbuild/protobuf";
import type { OutboxEvent } from "@scrip/events";
import { instantToProto } from "@scrip/mapping";
import {
  HolderAssignedSchema,
  HolderRemovedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";

import type { Holder } from "../store/holders.ts";
import { VOUCHERS_TOPIC } from "./voucher-published.ts";

type Referee = Pick<Holder, "projectId" | "voucherId" | "campaignId" | "customerId" | "id">;

const fieldsOf = ({ projectId, voucherId, campaignId, customerId, id }: Referee, at: number) => ({
  projectId,
  voucherId,
  ...(campaignId !== null && { campaignId }),
  customerId,
  holderId: id,
  date: instantToProto(at),
});

/** The event of a customer who became a referee of a referral code. */
export const holderAssigned = (id: string, holder: Holder): OutboxEvent => ({
  projectId: holder.projectId,
  id,
  topic: VOUCHERS_TOPIC,
  type: HolderAssignedSchema.typeName,
  key: holder.voucherId,
  payload: toBinary(
    HolderAssignedSchema,
    create(HolderAssignedSchema, fieldsOf(holder, holder.createdAt)),
  ),
});

/** The event of a referee who was removed from a referral code. */
export const holderRemoved = (id: string, holder: Referee, at: number): OutboxEvent => ({
  projectId: holder.projectId,
  id,
  topic: VOUCHERS_TOPIC,
  type: HolderRemovedSchema.typeName,
  key: holder.voucherId,
  payload: toBinary(HolderRemovedSchema, create(HolderRemovedSchema, fieldsOf(holder, at))),
});
