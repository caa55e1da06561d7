/** Identifies a number of a project that redemptions raise and rollbacks lower. null: not restricted. */
export type Count = {
  readonly scope: CountScope;
  readonly measure: CountMeasure;
  /** Only redemptions of this customer. */
  readonly customerId: string | null;
  /** Only redemptions by this application or user. */
  readonly channelId: string | null;
  /** Only from this instant (epoch milliseconds): the start of a day, week or month in the project's time zone. */
  readonly since: number | null;
  /** UNITS: of this product. */
  readonly productId: string | null;
};

export type CountScope = {
  readonly kind: "voucher" | "promotion_tier" | "campaign";
  readonly id: string;
};

export type CountMeasure =
  | "REDEMPTIONS"
  | "ORDERS_AMOUNT"
  | "DISCOUNTED_AMOUNT"
  | "GIFT_CREDITS"
  | "UNITS";

/** Key for lookups: equal counts have equal keys. */
export const countKey = ({
  scope,
  measure,
  customerId,
  channelId,
  since,
  productId,
}: Count): string =>
  JSON.stringify([scope.kind, scope.id, measure, customerId, channelId, since, productId]);
