/**
 * The sum of the amounts of paid orders, `customer_order`, of which there may be any number. It stays at the largest number
 * that JSON holds exactly; a sum beyond eight bytes would fail each request for the customer.
 */
export const ORDERS_AMOUNT = "least(coalesce(sum(amount), 0), 9007199254740991)::bigint";
