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

/** Types that only customers have, not their cards. */
export const NOT_OF_CARDS: readonly string[] = ["customer.holder.assignment.created"];

export const categoryOf = (type: string): ActivityCategory =>
  ACTIONS.includes(type) ? "ACTION" : "EFFECT";
