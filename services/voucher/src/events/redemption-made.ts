import { toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  type Order,
  type OrderItemInput,
  OrderItemInputSchema,
  OrderSchema,
} from "@scrip/proto/scrip/common/v1/order_pb";

export const REDEMPTIONS_TOPIC = "scrip.redemptions.v1";

export type RedemptionMadeFields = {
  readonly projectId: string;
  readonly redemptionId: string;
  /** Either this or `tierId`. */
  readonly voucherId: string | null;
  readonly tierId: string | null;
  readonly campaignId: string | null;
  readonly customerId: string | null;
  readonly date: Timestamp;
  readonly amount: bigint | null;
  /** The state after the whole stack; only for its last redemption. */
  readonly order: Uint8Array | null;
  readonly parentId: string | null;
  /** Amount of the order, and the discount of this part, in minor units. */
  readonly orderAmount: bigint;
  readonly discountedAmount: bigint;
  /** For a loyalty card. */
  readonly points: {
    readonly points: bigint;
    readonly holdId: string;
    readonly rewardId: string | null;
    readonly isRewardPending: boolean;
  } | null;
  readonly sessionKey: string | null;
  /** For a referral code. */
  readonly referrerId: string | null;
  /** Order lines with `override`, which update the catalogue; only with an order. */
  readonly overrides: readonly OrderItemInput[];
};

/**
 * Encodes `scrip.events.v1.RedemptionMade`. Written by hand because it runs for each redemption: `create` and
 * `toBinary` take ten times as long, and the order, which the redemption's row stores too, is encoded once.
 */
export function encodeRedemptionMade(fields: RedemptionMadeFields): Uint8Array {
  const writer = new BinaryWriter();
  writer.uint32(1 * 8 + WireType.LengthDelimited).string(fields.projectId);
  writer.uint32(2 * 8 + WireType.LengthDelimited).string(fields.redemptionId);
  if (fields.voucherId !== null) {
    writer.uint32(3 * 8 + WireType.LengthDelimited).string(fields.voucherId);
  }
  if (fields.campaignId !== null) {
    writer.uint32(4 * 8 + WireType.LengthDelimited).string(fields.campaignId);
  }
  if (fields.customerId !== null) {
    writer.uint32(5 * 8 + WireType.LengthDelimited).string(fields.customerId);
  }
  writer.uint32(6 * 8 + WireType.LengthDelimited).fork();
  writer.uint32(1 * 8 + WireType.Varint).int64(fields.date.seconds);
  if (fields.date.nanos !== 0) writer.uint32(2 * 8 + WireType.Varint).int32(fields.date.nanos);
  writer.join();
  if (fields.amount !== null) writer.uint32(7 * 8 + WireType.Varint).int64(fields.amount);
  if (fields.order !== null) {
    writer.uint32(8 * 8 + WireType.LengthDelimited).bytes(fields.order);
  }
  if (fields.parentId !== null) {
    writer.uint32(9 * 8 + WireType.LengthDelimited).string(fields.parentId);
  }
  if (fields.tierId !== null) {
    writer.uint32(10 * 8 + WireType.LengthDelimited).string(fields.tierId);
  }
  if (fields.orderAmount !== 0n) {
    writer.uint32(11 * 8 + WireType.Varint).int64(fields.orderAmount);
  }
  if (fields.discountedAmount !== 0n) {
    writer.uint32(12 * 8 + WireType.Varint).int64(fields.discountedAmount);
  }
  if (fields.points !== null) {
    writer.uint32(13 * 8 + WireType.Varint).int64(fields.points.points);
    writer.uint32(14 * 8 + WireType.LengthDelimited).string(fields.points.holdId);
    if (fields.points.rewardId !== null) {
      writer.uint32(17 * 8 + WireType.LengthDelimited).string(fields.points.rewardId);
    }
    if (fields.points.isRewardPending) writer.uint32(21 * 8 + WireType.Varint).bool(true);
  }
  if (fields.sessionKey !== null) {
    writer.uint32(15 * 8 + WireType.LengthDelimited).string(fields.sessionKey);
  }
  if (fields.referrerId !== null) {
    writer.uint32(16 * 8 + WireType.LengthDelimited).string(fields.referrerId);
  }
  for (const line of fields.overrides) {
    writer.uint32(20 * 8 + WireType.LengthDelimited).bytes(toBinary(OrderItemInputSchema, line));
  }
  return writer.finish();
}

export const encodeOrder = (order: Order): Uint8Array => toBinary(OrderSchema, order);
