/** Changes of customers, key: customer id. Published by this service. */
export const CUSTOMERS_TOPIC = "scrip.customers.v1";

/** Changes of earning rules, tiers and rewards, key: the resource. Published by this service. */
export const PROGRAMS_TOPIC = "scrip.programs.v1";

/** Changes of points, key: the card. Published by this service. */
export const POINTS_TOPIC = "scrip.points.v1";
