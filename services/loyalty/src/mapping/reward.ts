import { create, type JsonObject } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Reward,
  type RewardParameters as ParametersMessage,
  RewardSchema,
} from "@scrip/proto/scrip/loyalty/v1/rewards_pb";

import type { RewardParameters } from "../domain/reward.ts";
import type { RewardRow } from "../store/rewards.ts";

export function rewardToProto(row: RewardRow): Reward {
  const { campaign, product, coin } = row.parameters;
  const { image_url: imageUrl, description } = row.attributes;
  return create(RewardSchema, {
    id: row.id,
    type: row.type,
    parameters: {
      ...(campaign !== undefined && {
        campaign: {
          id: campaign.id,
          ...(campaign.balance !== null && { balance: BigInt(campaign.balance) }),
          ...(campaign.type !== null && { type: campaign.type }),
        },
      }),
      ...(product !== undefined && {
        product: { id: product.id, ...(product.sku_id !== null && { skuId: product.sku_id }) },
      }),
      ...(coin !== undefined && {
        coin: { exchangeRatio: coin.exchange_ratio, pointsRatio: BigInt(coin.points_ratio) },
      }),
    },
    attributes: {
      ...(imageUrl !== undefined && { imageUrl }),
      ...(description !== undefined && { description }),
    },
    // JSON that was received as a Struct and stored as JSON.
    metadata: row.metadata as JsonObject,
    createdAt: timestampFromDate(row.created_at),
    ...(row.name !== null && { name: row.name }),
    ...(row.stock !== null && { stock: row.stock }),
    ...(row.type === "MATERIAL" && { redeemed: row.redeemed }),
    ...(row.updated_at !== null && { updatedAt: timestampFromDate(row.updated_at) }),
  });
}

export const rewardParametersFromProto = ({
  campaign,
  product,
  coin,
}: ParametersMessage): RewardParameters => ({
  ...(campaign !== undefined && {
    campaign: {
      id: campaign.id,
      balance: campaign.balance === undefined ? null : `${campaign.balance}`,
      type: campaign.type ?? null,
    },
  }),
  ...(product !== undefined && { product: { id: product.id, sku_id: product.skuId ?? null } }),
  ...(coin !== undefined && {
    coin: { exchange_ratio: coin.exchangeRatio, points_ratio: `${coin.pointsRatio ?? 1n}` },
  }),
});
