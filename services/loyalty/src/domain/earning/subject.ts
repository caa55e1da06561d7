import {
  countValue,
  idsOperand,
  type Metadata,
  metadataOperand,
  type RuleLine,
  type RuleReader,
  type TimeContext,
} from "@scrip/rules";

/** One item of a paid order. Amounts are minor units. */
export type EarningItem = RuleLine & {
  /** Units that were not paid for. */
  readonly discountQuantity: bigint;
  readonly subtotalAmount: bigint;
};

export type EarningOrder = {
  readonly id: string | null;
  readonly sourceId: string | null;
  readonly amount: bigint;
  readonly initialAmount: bigint;
  readonly totalAmount: bigint;
  readonly metadata: Metadata;
  readonly items: readonly EarningItem[];
};

/** What an event is about: earning rules measure it and check their validation rules with it. */
export type EarningSubject = {
  readonly order: EarningOrder | null;
  readonly customerMetadata: Metadata;
  readonly segmentIds: readonly string[];
  /** Segments of which it is not known whether the customer is in them. */
  readonly unreadableSegmentIds: readonly string[];
  /** Of all cards of the customer, before the event. */
  readonly tierIds: readonly string[];
  /** Metadata of a custom event. */
  readonly eventMetadata: Metadata | null;
  readonly time: TimeContext;
};

/** The values of rule names; null for what an event does not have, such as counts of redemptions. */
export const earningRuleReader = (subject: EarningSubject): RuleReader => ({
  time: subject.time,
  hasCustomer: true,
  hasOrder: subject.order !== null,
  lines: subject.order?.items ?? [],
  read: (name, property) => {
    const { order } = subject;
    switch (name) {
      case "customer.segment":
        return idsOperand(subject.segmentIds);
      case "customer.loyalty.tier":
        return idsOperand(subject.tierIds);
      case "customer.metadata":
        return metadataOperand(subject.customerMetadata, property ?? "");
      case "custom_event.metadata":
        return subject.eventMetadata && metadataOperand(subject.eventMetadata, property ?? "");
      case "order.metadata":
        return order && metadataOperand(order.metadata, property ?? "");
      case "order.amount":
        return order && countValue(order.amount);
      case "order.initial_amount":
        return order && countValue(order.initialAmount);
      case "order.total_amount":
        return order && countValue(order.totalAmount);
      case "order.items.count":
        return order && countValue(order.items.reduce((sum, { quantity }) => sum + quantity, 0n));
      default:
        return null;
    }
  },
});
