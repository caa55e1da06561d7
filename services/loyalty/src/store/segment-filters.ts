import { type FilterFields, jsonMember } from "@scrip/filters";

import { ADDRESS_FIELDS } from "../domain/customer.ts";
import { nameBefore } from "../domain/segment-reads.ts";
import { HELD_CARDS, POINTS_OF_CARD, REDEEMED_POINTS } from "./customer-activity.ts";

const ofRedemptions = (column: string): string =>
  `coalesce(
     (select r.${column} from customer_redemptions r
       where r.project_id = customer.project_id and r.customer_id = customer.id), 0)`;

const ofOrders = (sql: string): string =>
  `(select ${sql} from customer_order o
     where o.project_id = customer.project_id and o.customer_id = customer.id and o.paid)`;

const ofLastOrder = (column: string): string =>
  `(select o.${column} from customer_order o
     where o.project_id = customer.project_id and o.customer_id = customer.id and o.paid
     order by o.changed_at desc, o.order_id desc limit 1)`;

const ofCards = (points: string, condition = "true"): string =>
  `(select coalesce(sum(${points}), 0) from ${HELD_CARDS}
     where m.project_id = customer.project_id and m.customer_id = customer.id and ${condition})`;

const eventsNamed = (name: string): string =>
  `(select count(*) from custom_event e
     where e.project_id = customer.project_id and e.customer_id = customer.id and e.name = ${name})`;

/** SQL of segment filters over `customer`. Keep it equal to the fields in domain/segment-matching.ts. */
export const customerFilters: FilterFields = {
  named: {
    id: { type: "text", sql: "customer.id" },
    source_id: { type: "text", sql: "customer.source_id" },
    name: { type: "text", sql: "customer.name" },
    description: { type: "text", sql: "customer.description" },
    email: { type: "text", sql: "customer.email" },
    phone: { type: "text", sql: "customer.phone" },
    ...Object.fromEntries(
      ADDRESS_FIELDS.map((field) => [
        `address.${field}`,
        { type: "text" as const, sql: `customer.${field}` },
      ]),
    ),
    birthdate: { type: "day", sql: "customer.birthdate" },
    birthday: { type: "day", sql: "customer.birthdate" },
    created_at: { type: "date", sql: "customer.created_at" },
    updated_at: { type: "date", sql: "customer.updated_at" },
    "summary.redemptions.total_redeemed": { type: "number", sql: ofRedemptions("succeeded") },
    "summary.redemptions.total_succeeded": { type: "number", sql: ofRedemptions("succeeded") },
    "summary.redemptions.total_failed": { type: "number", sql: ofRedemptions("failed") },
    "summary.redemptions.total_rolled_back": { type: "number", sql: ofRedemptions("rolled_back") },
    "summary.redemptions.total_rollback_succeeded": {
      type: "number",
      sql: ofRedemptions("rolled_back"),
    },
    "summary.redemptions.total_rollback_failed": {
      type: "number",
      sql: ofRedemptions("rollbacks_refused"),
    },
    "summary.redemptions.gift.redeemed_amount": {
      type: "number",
      sql: ofRedemptions("gift_amount"),
    },
    "summary.redemptions.loyalty_card.redeemed_points": {
      type: "number",
      sql: ofCards(REDEEMED_POINTS),
    },
    "summary.redemptions.loyalty_card.points_to_go": {
      type: "number",
      sql: ofCards(POINTS_OF_CARD),
    },
    "summary.orders.total_amount": { type: "number", sql: ofOrders("coalesce(sum(o.amount), 0)") },
    "summary.orders.total_count": { type: "number", sql: ofOrders("count(*)") },
    "summary.orders.average_amount": {
      type: "number",
      // Rounded half up; zero without orders.
      sql: ofOrders(
        "coalesce(div(2 * sum(o.amount) + count(*), nullif(2 * count(*), 0)::numeric), 0)",
      ),
    },
    "summary.orders.last_order_amount": {
      type: "number",
      sql: `coalesce(${ofLastOrder("amount")}, 0)`,
    },
    "summary.orders.last_order_date": { type: "date", sql: ofLastOrder("changed_at") },
    "loyalty.points": { type: "number", sql: ofCards(POINTS_OF_CARD) },
  },
  prefixed: {
    "loyalty_points.campaigns.": (key, bind) => {
      const name = nameBefore(".points", key);
      return name === undefined
        ? undefined
        : { type: "number", sql: ofCards(POINTS_OF_CARD, `p.name = ${bind(name)}`) };
    },
    "events.": (key, bind) => {
      const name = nameBefore(".count", key);
      return name === undefined ? undefined : { type: "number", sql: eventsNamed(bind(name)) };
    },
    "metadata.": jsonMember("customer.metadata"),
  },
};
