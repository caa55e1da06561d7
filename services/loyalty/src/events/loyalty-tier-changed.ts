import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { OutboxEvent } from "@scrip/events";
import {
  LoyaltyTierChangedSchema,
  LoyaltyTiersChangedSchema,
} from "@scrip/proto/scrip/events/v1/loyalty_tiers_pb";

import type { TierChange, TierState } from "../domain/tiers/follow-ledger.ts";
import type { Tier } from "../domain/tiers/tier.ts";
import { CUSTOMERS_TOPIC, POINTS_TOPIC } from "./topics.ts";

/** The event of a change of a card's tier. */
export const loyaltyTierChangedEvent = (
  id: string,
  { projectId, customerId, cardId, campaignId }: TierState,
  { type, tier, previous, expirationDate, at }: TierChange & { readonly at: number },
): OutboxEvent => ({
  projectId,
  id,
  topic: CUSTOMERS_TOPIC,
  type: LoyaltyTierChangedSchema.typeName,
  key: customerId,
  payload: toBinary(
    LoyaltyTierChangedSchema,
    create(LoyaltyTierChangedSchema, {
      projectId,
      customerId,
      cardId,
      campaignId,
      change: type,
      ...(tier !== null && { tier: eventTier(tier) }),
      ...(previous !== null && { previous: eventTier(previous) }),
      ...(expirationDate !== null && { expirationDate }),
      date: timestampFromMs(at),
    }),
  ),
});

const eventTier = ({ id, name }: Tier) => ({ id, name });

export type TiersChange = {
  readonly projectId: string;
  readonly campaignId: string;
  readonly recalculate: boolean;
  readonly afterCardId: string;
};

/** The event after which a slice of the members of a program is evaluated. */
export const loyaltyTiersChangedEvent = (id: string, change: TiersChange): OutboxEvent => ({
  projectId: change.projectId,
  id,
  topic: POINTS_TOPIC,
  type: LoyaltyTiersChangedSchema.typeName,
  key: change.campaignId,
  payload: toBinary(LoyaltyTiersChangedSchema, create(LoyaltyTiersChangedSchema, change)),
});
