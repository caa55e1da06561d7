import { keyFrom, keyOf } from "./redemption-keys.ts";

/**
 * Invariants of redemptions, rollbacks, totals and sessions; the statements have the form of those in
 * `voucher-checks.ts`.
 */

const IN_CAMPAIGN = `${keyOf("r", "campaign_id")} = ${keyFrom("t.project_id", "t.scope_id")}`;
const BY_TIER = `${keyOf("r", "promotion_tier_id")} = ${keyFrom("t.project_id", "t.scope_id")}`;

export const TOTALS = `
  select t.scope_id as id,
         case when (t.redemptions, t.orders_amount, t.discounted_amount, t.gift_credits)
                   is distinct from (made.redemptions, made.orders, made.discounted, made.credits)
              then format('counts %s redemptions, %s of orders, %s of discounts, %s credits; has %s, %s, %s, %s',
                          t.redemptions, t.orders_amount, t.discounted_amount, t.gift_credits,
                          made.redemptions, made.orders, made.discounted, made.credits)
          end as fault
    from redemption_total t
   cross join lateral (
           select count(*) as redemptions, coalesce(sum(r.order_amount), 0)::int8 as orders,
                  coalesce(sum(r.discounted_amount), 0)::int8 as discounted,
                  coalesce(sum(r.amount), 0)::int8 as credits
             from (select * from redemption r
                    where ${IN_CAMPAIGN} and status = 'SUCCEEDED'
                    union all
                   select * from redemption r
                    where ${BY_TIER} and status = 'SUCCEEDED') r
         ) made
   where t.project_id = $1 and t.scope_id > $2
   order by t.scope_id
   limit $3`;

export const UNITS = `
  select t.scope_id as id,
         (select string_agg(format('product %s: counts %s, has %s', u.product_id, u.quantity,
                                   made.quantity), '; ')
            from redemption_units u
           cross join lateral (
                   select coalesce(sum((r.units ->> u.product_id)::int8), 0)::int8 as quantity
                     from (select units from redemption r
                            where ${IN_CAMPAIGN} and status = 'SUCCEEDED'
                            union all
                           select units from redemption r
                            where ${BY_TIER} and status = 'SUCCEEDED') r
                 ) made
           where u.project_id = t.project_id and u.scope_id = t.scope_id
             and u.quantity <> made.quantity) as fault
    from redemption_total t
   where t.project_id = $1 and t.scope_id > $2
   order by t.scope_id
   limit $3`;

export const ROLLBACKS = `
  select r.id,
         case when r.status = 'ROLLED_BACK' and back.count <> 1
              then format('is rolled back, by %s rollbacks', back.count)
              when r.status <> 'ROLLED_BACK' and back.count > 0
              then format('is %s, and was rolled back', r.status)
              when back.count = 1 and back.amount is distinct from r.amount
              then format('took %s, was given back %s', r.amount, back.amount)
          end as fault
    from redemption r
   cross join lateral (
           select count(*) as count, sum(b.amount)::int8 as amount
             from redemption_rollback b
            where b.project_id = r.project_id and b.redemption_id = r.id
              and b.status = 'SUCCEEDED'
         ) back
   where r.project_id = $1 and r.id > $2
   order by r.id
   limit $3`;

/** Redemptions without voucher and tier are parents. */
export const PARTS = `
  select r.id,
         case when r.parent_id is not null and (p.id is null or p.voucher_id is not null
                                                or p.promotion_tier_id is not null)
              then format('is a part of %s, which is no parent', r.parent_id)
              when r.parent_id is not null and p.status <> r.status
              then format('is %s, its parent is %s', r.status, p.status)
              when r.voucher_id is null and r.promotion_tier_id is null and parts.count < 2
              then format('is a parent of %s', parts.count)
          end as fault
    from redemption r
    left join redemption p on p.project_id = r.project_id and p.id = r.parent_id
   cross join lateral (
           select count(*) as count from redemption c
            where c.project_id = r.project_id and c.parent_id = r.id
         ) parts
   where r.project_id = $1 and r.id > $2
   order by r.id
   limit $3`;

/**
 * A reservation expires in the project's time and is retained for its length plus seven days of real time, so the
 * difference shows how far the project's clock is ahead: the farthest, if the clock was moved. The clock is not behind
 * the newest redemption either. An edited voucher may have less left than sessions locked before, so only vouchers
 * with their first version are checked.
 */
export const SESSIONS = `
  select u.voucher_id as id,
         case when held.quantity > 0 and not u.reserved
               and (u.quantity is not null or u.balance is not null)
              then format('is locked by %s sessions, and not marked', held.quantity)
              when u.definition_version = 1 and held.quantity > 0
               and u.redeemed_quantity + held.quantity > u.quantity
              then format('was redeemed %s times and is locked %s times, allows %s',
                          u.redeemed_quantity, held.quantity, u.quantity)
              when u.definition_version = 1 and held.credits > u.balance
              then format('has %s left, of which %s are locked', u.balance, held.credits)
          end as fault
    from voucher_usage u
   cross join lateral (
           select count(*) filter (where s.expires_at > s.clock) as quantity,
                  coalesce(sum(s.credits) filter (where s.expires_at > s.clock), 0)::int8 as credits
             from (select expires_at, credits,
                          greatest(
                            now() + max(expires_at - kept_until + interval '7 days') over (),
                            (select max(r.created_at) from redemption r
                              where ${keyOf("r", "voucher_id")}
                                      = ${keyFrom("u.project_id", "u.voucher_id")}
                                and r.status = 'SUCCEEDED')) as clock
                     from reservation
                    where project_id = u.project_id and voucher_id = u.voucher_id) s
         ) held
   where u.project_id = $1 and u.voucher_id > $2
   order by u.voucher_id
   limit $3`;
