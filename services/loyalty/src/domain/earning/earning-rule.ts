import type { ExpirationRules, Validity } from "@scrip/rules";

export const ORDER_PAID = "order.paid";
export const SEGMENT_ENTERED = "customer.segment.entered";
export const TIER_EVENTS: ReadonlySet<string> = new Set(
  ["joined", "left", "upgraded", "downgraded", "prolonged"].map(
    (change) => `customer.loyalty.tier.${change}`,
  ),
);
/** A tier rule with this id applies to every tier. */
export const ANY_TIER = "__ANY__";

export const CALCULATION_TYPES = [
  "ORDER_AMOUNT",
  "ORDER_TOTAL_AMOUNT",
  "ORDER_METADATA",
  "ORDER_ITEMS_QUANTITY",
  "ORDER_ITEMS_AMOUNT",
  "ORDER_ITEMS_SUBTOTAL_AMOUNT",
  "CUSTOMER_METADATA",
  "CUSTOM_EVENT_METADATA",
] as const;
export type CalculationType = (typeof CALCULATION_TYPES)[number];

export type ItemTarget = {
  readonly object: "product" | "sku" | "products_collection";
  readonly id: string;
};

/** How many points a rule grants (docs/earning.md#calculation). */
export type Calculation =
  | { readonly type: "FIXED"; readonly points: bigint; readonly formula: string | null }
  | {
      readonly type: "PROPORTIONAL";
      readonly measure: CalculationType;
      /** Size of one unit of the measure. */
      readonly every: bigint;
      readonly points: bigint;
      readonly formula: string | null;
      /** Key of metadata; null for other measures. */
      readonly property: string | null;
      /** Items that count; empty for other measures. */
      readonly targets: readonly ItemTarget[];
    };

export type EarningRule = {
  readonly id: string;
  readonly campaignId: string;
  /** `order.paid`, `customer.segment.entered`, a tier event, or the name of a custom event. */
  readonly event: string;
  /** Schema of a custom event; null in projects without schemas. */
  readonly schemaId: string | null;
  readonly segmentId: string | null;
  readonly tierId: string | null;
  readonly validationRuleId: string | null;
  /** When it got its validation rule; null: without one, and for earning rules of earlier releases. */
  readonly ruleAssignedAt: number | null;
  readonly calculation: Calculation;
  /** Days that earned points stay pending; null: none. */
  readonly pendingDays: number | null;
  /** Null: the rules of the program. */
  readonly expirationRules: ExpirationRules | null;
  readonly banner: string | null;
  readonly active: boolean;
  readonly validity: Validity;
  readonly automationId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number | null;
};

/** With this validation rule from now on; null: without one. */
export const withValidationRule = (
  rule: EarningRule,
  validationRuleId: string | null,
  now: number,
): EarningRule =>
  validationRuleId === rule.validationRuleId
    ? rule
    : { ...rule, validationRuleId, ruleAssignedAt: validationRuleId === null ? null : now };

/** Whether the segment or tier of an event triggers the rule; null: the event has neither. */
export const isTriggeredBy = (
  { segmentId, tierId }: Pick<EarningRule, "segmentId" | "tierId">,
  objectId: string | null,
): boolean => objectId === null || tierId === ANY_TIER || (segmentId ?? tierId) === objectId;

/** Whether the event is a custom event. */
export const isCustomEvent = (event: string): boolean =>
  event !== ORDER_PAID && event !== SEGMENT_ENTERED && !TIER_EVENTS.has(event);

/** Measures that an event can provide, besides FIXED points. */
export function measuresOf(event: string): readonly CalculationType[] {
  if (event === ORDER_PAID) {
    return CALCULATION_TYPES.filter((type) => type !== "CUSTOM_EVENT_METADATA");
  }
  return isCustomEvent(event)
    ? ["CUSTOMER_METADATA", "CUSTOM_EVENT_METADATA"]
    : ["CUSTOMER_METADATA"];
}
