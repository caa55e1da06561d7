import { boundedSum } from "@scrip/postgres";

/** SQL: the sum of the amounts of a customer's paid orders, rows of `customer_order`. */
export const ORDERS_AMOUNT = boundedSum("sum(amount)");
