/** Changes of customers, key: customer id. Published by this service. */
export const CUSTOMERS_TOPIC = "scrip.customers.v1";
