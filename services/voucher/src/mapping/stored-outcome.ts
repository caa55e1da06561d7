import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { CustomerSchema } from "@scrip/proto/scrip/common/v1/customer_pb";
import { OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import {
  type CommitOutcome,
  CommitOutcomeSchema,
  type Redemption,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

/** What the row of a redemption stores and its response repeats. */
export type RowMessages = {
  readonly order: Uint8Array | null;
  readonly customer: Uint8Array | null;
  readonly trackingId: string | null;
};

/** Encodes an outcome for a replay, without what the rows of its redemptions store. */
export function storedOutcomeToBinary(outcome: CommitOutcome): Uint8Array {
  return toBinary(CommitOutcomeSchema, mapRedemptions(outcome, withoutRowMessages));
}

const withoutRowMessages = (redemption: Redemption): Redemption => ({
  ...redemption,
  order: undefined,
  customer: undefined,
  trackingId: undefined,
});

/** The redemptions of a stored outcome that lack an order or a customer. */
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
    const { order, customer, trackingId } = messages.get(redemption.id) ?? {};
    return {
      ...redemption,
      order: redemption.order ?? (order ? fromBinary(OrderSchema, order) : undefined),
      customer:
        redemption.customer ?? (customer ? fromBinary(CustomerSchema, customer) : undefined),
      trackingId: redemption.trackingId ?? trackingId ?? undefined,
    };
  };
  const outcome = fromBinary(CommitOutcomeSchema, stored);
  return toBinary(CommitOutcomeSchema, mapRedemptions(outcome, complete));
}

function mapRedemptions(
  message: CommitOutcome,
  change: (redemption: Redemption) => Redemption,
): CommitOutcome {
  if (message.outcome.case !== "committed") return message;
  const { value } = message.outcome;
  return {
    ...message,
    outcome: {
      case: "committed",
      value: {
        ...value,
        redemptions: value.redemptions.map(change),
        parentRedemption: value.parentRedemption && change(value.parentRedemption),
      },
    },
  };
}

function redemptionsOf({ outcome }: CommitOutcome): readonly Redemption[] {
  if (outcome.case !== "committed") return [];
  const { redemptions, parentRedemption } = outcome.value;
  return parentRedemption === undefined ? redemptions : [...redemptions, parentRedemption];
}
