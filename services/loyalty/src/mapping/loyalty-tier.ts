import { create, type JsonObject } from "@bufbuild/protobuf";
import { invalidPayload } from "@scrip/errors";
import { instantToProto, optionalInstantToProto } from "@scrip/mapping";
import { parseDecimal } from "@scrip/money";
import {
  type LoyaltyTier,
  LoyaltyTierSchema,
  type TierMapping as MappingMessage,
  type TierRange,
} from "@scrip/proto/scrip/loyalty/v1/tiers_pb";

import type { TierMapping } from "../domain/earning/earned-points.ts";
import { decimalToText } from "../domain/tiers/decimal-text.ts";
import type { TierState } from "../domain/tiers/follow-ledger.ts";
import type { PriceMapping, Tier } from "../domain/tiers/tier.ts";

export function tierToProto(tier: Tier, state?: TierState): LoyaltyTier {
  const points = { from: tier.from, ...(tier.to !== null && { to: tier.to }) };
  const updatedAt = optionalInstantToProto(tier.updatedAt);
  return create(LoyaltyTierSchema, {
    id: tier.id,
    name: tier.name,
    campaignId: tier.campaignId,
    metadata: tier.metadata as JsonObject,
    points,
    config: { points },
    earningRules: mappingsToProto(tier.earningRules),
    rewards: mappingsToProto(tier.rewards),
    createdAt: instantToProto(tier.createdAt),
    ...(updatedAt !== undefined && { updatedAt }),
    ...(state !== undefined && { expiration: membershipToProto(state) }),
  });
}

function membershipToProto(state: TierState) {
  const updatedAt = optionalInstantToProto(state.updatedAt);
  return {
    customerId: state.customerId,
    campaignId: state.campaignId,
    tierId: state.tierId ?? "",
    startDate: state.startDate ?? "",
    ...(state.expirationDate !== null && { expirationDate: state.expirationDate }),
    createdAt: instantToProto(state.createdAt),
    ...(updatedAt !== undefined && { updatedAt }),
  };
}

const mappingsToProto = (mappings: ReadonlyMap<string, PriceMapping>) =>
  Object.fromEntries([...mappings].map(([id, mapping]) => [id, mappingToProto(mapping)]));

function mappingToProto(mapping: PriceMapping) {
  if (mapping.type === "CUSTOM") return { type: mapping.type, points: mapping.points };
  if (mapping.type === "NOT_AVAILABLE") return { type: mapping.type };
  return { type: mapping.type, multiplier: decimalToText(mapping.multiplier) };
}

export function rangeFromProto(range: TierRange): Pick<Tier, "from" | "to"> {
  const { from = 0n, to = null } = range;
  if (to !== null && to < from) {
    throw invalidPayload("Property .points.to cannot be lower than .points.from");
  }
  return { from, to };
}

type Messages = Readonly<Record<string, MappingMessage>>;

export const earningMappingsFromProto = (mappings: Messages): ReadonlyMap<string, TierMapping> =>
  new Map(
    Object.entries(mappings).map(([id, message]) => {
      const mapping = mappingFromProto(message, `.earning_rules.${id}`);
      if (mapping.type === "NOT_AVAILABLE") {
        throw invalidPayload(`Property .earning_rules.${id}.type must be MULTIPLY or CUSTOM`);
      }
      return [id, mapping];
    }),
  );

export const priceMappingsFromProto = (mappings: Messages): ReadonlyMap<string, PriceMapping> =>
  new Map(
    Object.entries(mappings).map(([id, message]) => [
      id,
      mappingFromProto(message, `.rewards.${id}`),
    ]),
  );

function mappingFromProto(
  { type, multiplier, points }: MappingMessage,
  path: string,
): PriceMapping {
  if (type === "NOT_AVAILABLE") return { type };
  if (type === "CUSTOM") {
    if (points === undefined)
      throw invalidPayload(`Property ${path}.points is required for CUSTOM`);
    return { type, points };
  }
  const factor = multiplier === undefined ? undefined : parseDecimal(multiplier);
  if (factor === undefined) {
    throw invalidPayload(`Property ${path}.multiplier is required for MULTIPLY`);
  }
  return { type: "MULTIPLY", multiplier: factor };
}
