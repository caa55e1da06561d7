import { create, type JsonObject, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { enqueue } from "@scrip/events";
import { newId } from "@scrip/ids";
import { instantToProto, validityToProto } from "@scrip/mapping";
import type { Queryable } from "@scrip/postgres";
import { LoyaltyProgramChangedSchema } from "@scrip/proto/scrip/events/v1/loyalty_programs_pb";
import type { Call } from "@scrip/rpc";

import type { Campaign, Json } from "../domain/campaign.ts";
import { findCampaigns } from "../store/campaigns.ts";
import { CAMPAIGNS_TOPIC } from "./campaign-events.ts";

/**
 * Announces the state of a loyalty program after a change in the same transaction, which holds the lock of its row;
 * nothing for other campaigns.
 */
export async function announceLoyaltyProgram(
  tx: Queryable,
  call: Call,
  change: {
    readonly id: string;
    /** Applies changed rules to the tiers that members have. */
    readonly recalculateTiers?: boolean;
  },
): Promise<void> {
  const [record] = await findCampaigns(tx, [{ projectId: call.project.id, key: change.id }]);
  if (record?.campaign.campaignType !== "LOYALTY_PROGRAM") return;
  const { id, recalculateTiers = false } = change;
  const program = programToProto(record.campaign, call.now);
  await announce(tx, call, { id, recalculateTiers, ...program });
}

/** Announces the deletion of a loyalty program in its transaction. */
export const announceDeletedProgram = (tx: Queryable, call: Call, id: string): Promise<void> =>
  announce(tx, call, { id, deleted: true, date: instantToProto(call.now) });

const announce = (
  tx: Queryable,
  call: Call,
  { id, ...state }: { readonly id: string } & MessageInitShape<typeof LoyaltyProgramChangedSchema>,
): Promise<void> => {
  const projectId = call.project.id;
  const event = {
    projectId,
    id: newId("event"),
    topic: CAMPAIGNS_TOPIC,
    type: LoyaltyProgramChangedSchema.typeName,
    key: id,
    payload: toBinary(
      LoyaltyProgramChangedSchema,
      create(LoyaltyProgramChangedSchema, { projectId, campaignId: id, ...state }),
    ),
  };
  return enqueue(tx, [event], call);
};

function programToProto(campaign: Campaign, at: number) {
  const { name, active, autoJoin, validity, voucher, loyaltyTiersExpiration } = campaign;
  return {
    name,
    active,
    autoJoin,
    ...validityToProto(validity),
    expirationRules: structToProto(voucher?.loyaltyCard?.expirationRules ?? null),
    loyaltyTiersExpiration: structToProto(loyaltyTiersExpiration),
    initialPoints: voucher?.loyaltyCard?.points ?? 0n,
    date: instantToProto(at),
  };
}

// JSON that was received as a Struct and stored as JSON.
const structToProto = (json: Json | null): JsonObject | undefined =>
  json === null ? undefined : (json as JsonObject);
