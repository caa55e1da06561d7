/** A number that redemptions raise and rollbacks lower; mirrors `Count` of the voucher service. */
export type CountName = {
  readonly scope: {
    readonly kind: "voucher" | "promotion_tier" | "campaign";
    readonly id: string;
  };
  readonly measure: CountMeasure;
  /** Only of this customer. */
  readonly customerId: string | null;
  /** Only by this application or user. */
  readonly channelId: string | null;
  /** Only from this instant on: the start of a day, week or month in the project's time zone. */
  readonly since: number | null;
  /** Units: of this product. */
  readonly productId: string | null;
};

export type CountMeasure =
  | "REDEMPTIONS"
  | "ORDERS_AMOUNT"
  | "DISCOUNTED_AMOUNT"
  | "GIFT_CREDITS"
  | "UNITS";

/** The same text for the same number, to look counts up by. */
export const countKey = ({
  scope,
  measure,
  customerId,
  channelId,
  since,
  productId,
}: CountName): string =>
  JSON.stringify([scope.kind, scope.id, measure, customerId, channelId, since, productId]);
