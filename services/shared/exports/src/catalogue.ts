/** The type of a field: how filters compare it, and how a file shows it. */
export type FieldType = "text" | "number" | "boolean" | "date" | "day" | "array" | "json";

export type ExportFields = Readonly<Record<string, FieldType>>;

export type ExportSpec = {
  readonly fields: ExportFields;
  /** Fields of filters alone: those of the object's list that files do not contain. */
  readonly filterOnly?: ExportFields;
  readonly defaults: readonly string[];
  /** Fields that `order` may have, with `-` for descending. */
  readonly orders: readonly string[];
  readonly defaultOrder: string;
};

/** What can be exported (docs/exports.md#objects). */
export const EXPORTS = {
  order: {
    fields: {
      id: "text",
      source_id: "text",
      created_at: "date",
      updated_at: "date",
      status: "text",
      amount: "number",
      discount_amount: "number",
      items_discount_amount: "number",
      total_discount_amount: "number",
      total_amount: "number",
      customer_id: "text",
      referrer_id: "text",
      metadata: "json",
    },
    defaults: ["id", "source_id", "status"],
    orders: ["created_at", "updated_at", "status"],
    defaultOrder: "-created_at",
  },
  voucher: {
    fields: {
      code: "text",
      voucher_type: "text",
      value: "number",
      discount_type: "text",
      formula: "text",
      campaign: "text",
      category: "text",
      start_date: "date",
      expiration_date: "date",
      gift_balance: "number",
      loyalty_balance: "number",
      redemption_quantity: "number",
      redemption_count: "number",
      active: "boolean",
      qr_code: "text",
      bar_code: "text",
      metadata: "json",
      id: "text",
      is_referral_code: "boolean",
      created_at: "date",
      updated_at: "date",
      validity_timeframe_interval: "text",
      validity_timeframe_duration: "text",
      validity_day_of_week: "array",
      discount_amount_limit: "number",
      campaign_id: "text",
      additional_info: "text",
      customer_id: "text",
      customer_source_id: "text",
      discount_effect: "text",
      discount_unit_type: "text",
      discount_unit_effect: "text",
      validation_rules_id: "array",
    },
    filterOnly: { campaign_name: "text" },
    defaults: ["code", "voucher_type", "value", "discount_type"],
    orders: ["created_at", "updated_at", "code"],
    defaultOrder: "-created_at",
  },
  publication: {
    fields: {
      voucher_code: "text",
      customer_id: "text",
      date: "date",
      channel: "text",
      customer_source_id: "text",
      campaign: "text",
      is_winner: "boolean",
      metadata: "json",
    },
    filterOnly: { campaign_id: "text", campaign_name: "text" },
    defaults: ["voucher_code", "customer_id", "date", "channel"],
    orders: ["id", "voucher_code", "tracking_id", "customer_id", "created_at", "channel"],
    defaultOrder: "-created_at",
  },
  redemption: {
    fields: {
      id: "text",
      object: "text",
      voucher_code: "text",
      customer_id: "text",
      date: "date",
      result: "text",
      campaign: "text",
      promotion_tier_id: "text",
      customer_source_id: "text",
      customer_name: "text",
      tracking_id: "text",
      order_id: "text",
      order_amount: "number",
      gift_amount: "number",
      loyalty_points: "number",
      failure_code: "text",
      failure_message: "text",
      metadata: "json",
    },
    filterOnly: { campaign_id: "text", campaign_name: "text" },
    defaults: ["id", "object", "voucher_code", "customer_id", "date", "result"],
    orders: ["id", "voucher_code", "tracking_id", "customer_id", "created_at"],
    defaultOrder: "-created_at",
  },
  customer: {
    fields: {
      name: "text",
      source_id: "text",
      id: "text",
      description: "text",
      email: "text",
      created_at: "date",
      updated_at: "date",
      phone: "text",
      birthday: "day",
      birthdate: "day",
      address_city: "text",
      address_state: "text",
      address_line_1: "text",
      address_line_2: "text",
      address_country: "text",
      address_postal_code: "text",
      redemptions_total_redeemed: "number",
      redemptions_total_failed: "number",
      redemptions_total_succeeded: "number",
      redemptions_total_rolled_back: "number",
      redemptions_total_rollback_failed: "number",
      redemptions_total_rollback_succeeded: "number",
      orders_total_amount: "number",
      orders_total_count: "number",
      orders_average_amount: "number",
      orders_last_order_amount: "number",
      orders_last_order_date: "date",
      loyalty_points: "number",
      loyalty_referred_customers: "number",
      metadata: "json",
    },
    defaults: ["name", "source_id"],
    orders: ["name", "id", "email", "source_id", "created_at", "updated_at"],
    defaultOrder: "-created_at",
  },
  points_expiration: {
    fields: {
      id: "text",
      campaign_id: "text",
      voucher_id: "text",
      status: "text",
      expires_at: "day",
      points: "number",
    },
    defaults: ["id", "campaign_id", "voucher_id", "status", "expires_at", "points"],
    orders: ["expires_at"],
    defaultOrder: "expires_at",
  },
  voucher_transactions: {
    fields: {
      id: "text",
      type: "text",
      source_id: "text",
      reason: "text",
      source: "text",
      balance: "number",
      amount: "number",
      created_at: "date",
      campaign_id: "text",
      voucher_id: "text",
      related_transaction_id: "text",
      details: "json",
    },
    defaults: ["id", "type", "source_id", "reason", "source", "balance", "amount", "created_at"],
    orders: ["created_at"],
    defaultOrder: "-created_at",
  },
  product: {
    fields: {
      id: "text",
      name: "text",
      price: "number",
      image_url: "text",
      source_id: "text",
      attributes: "array",
      created_at: "date",
      updated_at: "date",
      metadata: "json",
    },
    defaults: ["id", "name", "price", "image_url", "source_id", "attributes", "created_at"],
    orders: ["created_at"],
    defaultOrder: "-created_at",
  },
  sku: {
    fields: {
      id: "text",
      sku: "text",
      price: "number",
      image_url: "text",
      source_id: "text",
      attributes: "json",
      created_at: "date",
      product_id: "text",
      currency: "text",
      updated_at: "date",
      metadata: "json",
    },
    defaults: [
      "id",
      "sku",
      "price",
      "image_url",
      "source_id",
      "attributes",
      "created_at",
      "product_id",
      "currency",
    ],
    orders: ["created_at"],
    defaultOrder: "-created_at",
  },
} as const satisfies Readonly<Record<string, ExportSpec>>;

export type ExportedObject = keyof typeof EXPORTS;

export const isExportedObject = (name: string): name is ExportedObject =>
  Object.hasOwn(EXPORTS, name);

export const specOf = (object: ExportedObject): ExportSpec => EXPORTS[object];

/** What filters may name, besides `metadata.<key>`. */
export const filterFieldsOf = (object: ExportedObject): ExportFields => {
  const { fields, filterOnly } = specOf(object);
  return { ...fields, ...filterOnly };
};

const METADATA = "metadata.";

/** The key of a field `metadata.<key>` of an object that has metadata. */
export function metadataKey({ fields }: ExportSpec, field: string): string | undefined {
  if (!Object.hasOwn(fields, "metadata") || !field.startsWith(METADATA)) return undefined;
  return field.slice(METADATA.length) || undefined;
}
