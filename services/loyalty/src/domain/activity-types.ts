export type ActivityCategory = "ACTION" | "EFFECT";

/** What customers do; all other types are effects. */
export const ACTIONS: readonly string[] = [
  "customer.redemption.succeeded",
  "customer.redemption.failed",
  "customer.redemption.rollback.succeeded",
  "customer.redemption.rollback.failed",
  "customer.order.paid",
  "customer.custom_event",
];

export const categoryOf = (type: string): ActivityCategory =>
  ACTIONS.includes(type) ? "ACTION" : "EFFECT";
