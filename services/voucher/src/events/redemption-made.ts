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

export type MadeFacts = {
  readonly projectId: string;
  readonly redemptionId: string;
  /** One of these two. */
  readonly voucherId: string | null;
  readonly tierId: string | null;
  readonly campaignId: string | null;
  readonly customerId: string | null;
  readonly date: Timestamp;
  readonly amount: bigint | null;
  /** Only of the last redemption of a stack, as all of them left it. */
  readonly order: Uint8Array | null;
  readonly parentId: string | null;
  /** What the order was worth, and what this part took off it. */
  readonly orderAmount: bigint;
  readonly discountedAmount: bigint;
  /** Of a loyalty card. */
  readonly points: { readonly points: bigint; readonly spendId: string } | null;
  readonly sessionKey: string | null;
  /** Lines that write into the catalogue; beside an order. */
  readonly overrides: readonly OrderItemInput[];
};

/**
 * `scrip.events.v1.RedemptionMade` in its binary form. Written by hand, because it is made for each
 * redemption: `create` and `toBinary` take ten times as long, and the order, which the redemption's
 * row holds too, is encoded only once.
 */
export function encodeRedemptionMade(facts: MadeFacts): Uint8Array {
  const writer = new BinaryWriter();
  writer.uint32(1 * 8 + WireType.LengthDelimited).string(facts.projectId);
  writer.uint32(2 * 8 + WireType.LengthDelimited).string(facts.redemptionId);
  if (facts.voucherId !== null) {
    writer.uint32(3 * 8 + WireType.LengthDelimited).string(facts.voucherId);
  }
  if (facts.campaignId !== null) {
    writer.uint32(4 * 8 + WireType.LengthDelimited).string(facts.campaignId);
  }
  if (facts.customerId !== null) {
    writer.uint32(5 * 8 + WireType.LengthDelimited).string(facts.customerId);
  }
  writer.uint32(6 * 8 + WireType.LengthDelimited).fork();
  writer.uint32(1 * 8 + WireType.Varint).int64(facts.date.seconds);
  if (facts.date.nanos !== 0) writer.uint32(2 * 8 + WireType.Varint).int32(facts.date.nanos);
  writer.join();
  if (facts.amount !== null) writer.uint32(7 * 8 + WireType.Varint).int64(facts.amount);
  if (facts.order !== null) {
    writer.uint32(8 * 8 + WireType.LengthDelimited).bytes(facts.order);
  }
  if (facts.parentId !== null) {
    writer.uint32(9 * 8 + WireType.LengthDelimited).string(facts.parentId);
  }
  if (facts.tierId !== null) {
    writer.uint32(10 * 8 + WireType.LengthDelimited).string(facts.tierId);
  }
  if (facts.orderAmount !== 0n) {
    writer.uint32(11 * 8 + WireType.Varint).int64(facts.orderAmount);
  }
  if (facts.discountedAmount !== 0n) {
    writer.uint32(12 * 8 + WireType.Varint).int64(facts.discountedAmount);
  }
  if (facts.points !== null) {
    writer.uint32(13 * 8 + WireType.Varint).int64(facts.points.points);
    writer.uint32(14 * 8 + WireType.LengthDelimited).string(facts.points.spendId);
  }
  if (facts.sessionKey !== null) {
    writer.uint32(15 * 8 + WireType.LengthDelimited).string(facts.sessionKey);
  }
  for (const line of facts.overrides) {
    writer.uint32(20 * 8 + WireType.LengthDelimited).bytes(toBinary(OrderItemInputSchema, line));
  }
  return writer.finish();
}

export const encodeOrder = (order: Order): Uint8Array => toBinary(OrderSchema, order);
