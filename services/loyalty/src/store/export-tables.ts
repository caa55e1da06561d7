import type { ExportTable, ExportTables } from "@scrip/exports";

import { ORDERS_AMOUNT } from "./order-sums.ts";

const CUSTOMERS: ExportTable = {
  from: `from customer c
         left join customer_redemptions r on r.project_id = c.project_id and r.customer_id = c.id
         left join lateral
              (select count(*) as count, ${ORDERS_AMOUNT} as amount,
                      max(changed_at) as last_at,
                      (array_agg(amount order by changed_at desc, order_id desc))[1] as last_amount
                 from customer_order
                where project_id = c.project_id and customer_id = c.id and paid) o on true
        where c.project_id = $1`,
  id: "c.id",
  columns: {
    name: { sql: "c.name" },
    source_id: { sql: "c.source_id" },
    id: { sql: "c.id" },
    description: { sql: "c.description" },
    email: { sql: "c.email" },
    created_at: { sql: "c.created_at" },
    updated_at: { sql: "c.updated_at" },
    phone: { sql: "c.phone" },
    birthday: { sql: "c.birthdate" },
    birthdate: { sql: "c.birthdate" },
    address_city: { sql: "c.city" },
    address_state: { sql: "c.state" },
    address_line_1: { sql: "c.line_1" },
    address_line_2: { sql: "c.line_2" },
    address_country: { sql: "c.country" },
    address_postal_code: { sql: "c.postal_code" },
    redemptions_total_redeemed: { sql: "coalesce(r.succeeded, 0)" },
    redemptions_total_failed: { sql: "coalesce(r.failed, 0)" },
    redemptions_total_succeeded: { sql: "coalesce(r.succeeded, 0)" },
    redemptions_total_rolled_back: { sql: "coalesce(r.rolled_back, 0)" },
    redemptions_total_rollback_failed: { sql: "coalesce(r.rollbacks_refused, 0)" },
    redemptions_total_rollback_succeeded: { sql: "coalesce(r.rolled_back, 0)" },
    orders_total_amount: { sql: "o.amount" },
    orders_total_count: { sql: "o.count" },
    orders_average_amount: {
      sql: "(case when o.count = 0 then 0 else round(o.amount::numeric / o.count) end)",
    },
    orders_last_order_amount: { sql: "coalesce(o.last_amount, 0)" },
    orders_last_order_date: { sql: "o.last_at" },
    loyalty_referred_customers: {
      sql: `(select count(*) from referral f
              where f.project_id = c.project_id and f.referrer_id = c.id)`,
    },
    metadata: { sql: "c.metadata" },
  },
};

/**
 * Lots that are due are shown as expired before the job of the night has expired them. Points that never expire have no lot:
 * they are what the lots leave of the balance, or the points of a card that was never changed.
 */
const pointsExpiration = (today: string): ExportTable => ({
  from: `from (
      select l.project_id, l.id, l.card_id, c.campaign_id, l.expires_on, l.expired, l.points
        from points_lot l
        join loyalty_card c on c.project_id = l.project_id and c.id = l.card_id
       where l.project_id = $1
       union all
      select c.project_id, ${neverExpiringId("c.id")}, c.id, c.campaign_id, null, false,
             c.balance - (select coalesce(sum(l.points), 0)::int8 from points_lot l
                           where l.project_id = c.project_id and l.card_id = c.id and not l.expired)
        from loyalty_card c
       where c.project_id = $1 and c.balance > 0
       union all
      select m.project_id, ${neverExpiringId("m.card_id")}, m.card_id, m.campaign_id, null, false, m.initial_points
        from loyalty_member m
       where m.project_id = $1
         and not exists (select from loyalty_card c where c.project_id = m.project_id and c.id = m.card_id)) l
   where l.project_id = $1 and (l.points > 0 or l.expired)`,
  id: "l.id",
  scopes: { campaign: "l.campaign_id", voucher: "l.card_id" },
  columns: {
    id: { sql: "l.id" },
    campaign_id: { sql: "l.campaign_id" },
    voucher_id: { sql: "l.card_id" },
    status: {
      sql: `(case when ${isExpired(today)} then 'EXPIRED' else 'ACTIVE' end)`,
      states: {
        $active: () => `(${isExpired(today)}) is not true`,
        $expired: () => isExpired(today),
      },
    },
    expires_at: { sql: "l.expires_on" },
    points: { sql: "l.points" },
  },
});

const isExpired = (today: string): string => `l.expired or l.expires_on < '${today}'`;

/** SQL: the id of the points that never expire, as listings of a card show it. */
function neverExpiringId(cardId: string): string {
  return `regexp_replace(${cardId}, '^v_', 'lopb_')`;
}

/** SQL: for entries from the time when they had no total of their own. */
const TOTAL_OF_CARD = `(select c.points - c.expired_points - c.subtracted_points from loyalty_card c
                         where c.project_id = l.project_id and c.id = l.card_id)`;

const POINTS_TRANSACTIONS: ExportTable = {
  from: "from ledger_entry l where l.project_id = $1",
  id: "l.id",
  scopes: { campaign: "l.campaign_id", voucher: "l.card_id" },
  columns: {
    id: { sql: "l.id" },
    type: { sql: "l.type" },
    source_id: { sql: "l.source_id" },
    reason: { sql: "l.reason" },
    source: { sql: "l.source" },
    balance: { sql: "l.balance_after" },
    amount: { sql: "l.points" },
    created_at: { sql: "l.created_at" },
    campaign_id: { sql: "l.campaign_id" },
    voucher_id: { sql: "l.card_id" },
    related_transaction_id: { sql: "l.related_id" },
    details: {
      sql: `jsonb_strip_nulls(jsonb_build_object(
              'balance', jsonb_build_object('type', 'loyalty_card', 'total', coalesce(l.total_after, ${TOTAL_OF_CARD}), 'object', 'balance',
                'points', l.points, 'balance', l.balance_after,
                'related_object', jsonb_build_object('id', l.card_id, 'type', 'voucher')),
              'redemption', case when l.redemption_id is not null
                                 then jsonb_build_object('id', l.redemption_id) end,
              'rollback', case when l.rollback_id is not null
                               then jsonb_build_object('id', l.rollback_id) end)
              || coalesce(l.details, '{}'))`,
    },
  },
};

export const EXPORT_TABLES: ExportTables = {
  customer: CUSTOMERS,
  points_expiration: pointsExpiration,
  voucher_transactions: POINTS_TRANSACTIONS,
};
