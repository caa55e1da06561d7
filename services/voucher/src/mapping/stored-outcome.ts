import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { instantToProto } from "@scrip/mapping";
import { CustomerSchema } from "@scrip/proto/scrip/common/v1/customer_pb";
import { OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import {
  type CommitOutcome,
  CommitOutcomeSchema,
  type Redemption,
  type RollbackOutcome,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

/** What the row of a redemption stores and its response repeats. */
export type RowMessages = {
  readonly order: Uint8Array | null;
  readonly customer: Uint8Array | null;
  readonly customerId: string | null;
  readonly trackingId: string | null;
  readonly createdAt: number;
  /** Empty where the request had no channel. */
  readonly channelId: string;
  readonly channelType: string;
};

/** Encodes an outcome for a replay, without what the rows of its redemptions store. */
export function storedOutcomeToBinary(outcome: CommitOutcome): Uint8Array {
  return toBinary(CommitOutcomeSchema, mapRedemptions(outcome, withoutRowMessages));
}

const withoutRowMessages = (redemption: Redemption): Redemption => ({
  ...redemption,
  order: undefined,
  customer: undefined,
  customerId: undefined,
  trackingId: undefined,
  // A row has milliseconds.
  date: isWholeMillisecond(redemption.date) ? undefined : redemption.date,
  channel: redemption.channel?.channelId === "" ? redemption.channel : undefined,
});

const isWholeMillisecond = (date: Redemption["date"]): boolean =>
  date !== undefined && date.nanos % 1_000_000 === 0;

/** The redemptions of a stored outcome that lack something of their rows. */
export const incompleteRedemptions = (stored: Uint8Array): readonly string[] =>
  redemptionsOf(fromBinary(CommitOutcomeSchema, stored))
    .filter(({ order, customer }) => order === undefined || customer === undefined)
    .map(({ id }) => id);

/** The outcome in full: byte-equal to the original as long as the rows have their messages. */
export function completeOutcome(
  stored: Uint8Array,
  messages: ReadonlyMap<string, RowMessages>,
): Uint8Array {
  const complete = (redemption: Redemption): Redemption => {
    const row = messages.get(redemption.id);
    if (row === undefined) return redemption;
    const { order, customer, customerId, trackingId, createdAt, channelId, channelType } = row;
    return {
      ...redemption,
      date: redemption.date ?? instantToProto(createdAt),
      customerId: redemption.customerId ?? customerId ?? undefined,
      channel:
        redemption.channel ??
        (channelId === ""
          ? undefined
          : { $typeName: "scrip.voucher.v1.Channel", channelId, channelType }),
      order: redemption.order ?? (order ? fromBinary(OrderSchema, order) : undefined),
      customer:
        redemption.customer ?? (customer ? fromBinary(CustomerSchema, customer) : undefined),
      trackingId: redemption.trackingId ?? trackingId ?? undefined,
    };
  };
  const outcome = fromBinary(CommitOutcomeSchema, stored);
  return toBinary(CommitOutcomeSchema, mapRedemptions(outcome, complete));
}

const mapRedemptions = (
  message: CommitOutcome,
  change: (redemption: Redemption) => Redemption,
): CommitOutcome =>
  mapCommitted(message, (value) => ({
    ...value,
    redemptions: value.redemptions.map(change),
    parentRedemption: value.parentRedemption && change(value.parentRedemption),
  }));

type Committed<Message extends CommitOutcome | RollbackOutcome> = Extract<
  Message["outcome"],
  { readonly case: "committed" }
>["value"];

/** Changes what was committed; a rejection is returned as it is. */
export function mapCommitted<Message extends CommitOutcome | RollbackOutcome>(
  message: Message,
  change: (value: Committed<Message>) => Committed<Message>,
): Message {
  const { outcome } = message;
  if (outcome.case !== "committed") return message;
  return {
    ...message,
    outcome: { ...outcome, value: change(outcome.value) },
  };
}

function redemptionsOf({ outcome }: CommitOutcome): readonly Redemption[] {
  if (outcome.case !== "committed") return [];
  const { redemptions, parentRedemption } = outcome.value;
  return parentRedemption === undefined ? redemptions : [...redemptions, parentRedemption];
}
