import { keyFrom, keyOf } from "./redemption-keys.ts";

/**
 * Invariants of vouchers: each statement returns one row per checked voucher with its id and the violation, or null. The
 * parameters are the project, the id to start after, and a limit.
 */

const OF_USAGE = `${keyOf("r", "voucher_id")} = ${keyFrom("u.project_id", "u.voucher_id")}`;

/** What an imported voucher was used for before: 0 for others. */
const importedOf = (name: string): string =>
  `coalesce((select ${name} from imported_usage p
              where p.project_id = u.project_id and p.voucher_id = u.voucher_id), 0)`;
const IMPORTED_QUANTITY = importedOf("redeemed_quantity");
const IMPORTED_AMOUNT = importedOf("redeemed_amount");

export const QUANTITIES = `
  select u.voucher_id as id,
         case when u.redeemed_quantity is distinct from made.count + ${IMPORTED_QUANTITY}
              then format('counts %s redemptions, has %s', u.redeemed_quantity, made.count)
              when u.redeemed_quantity > u.quantity
              then format('was redeemed %s times, allows %s', u.redeemed_quantity, u.quantity)
          end as fault
    from voucher_usage u
   cross join lateral (
           select count(*) as count from redemption r
            where ${OF_USAGE}
              and r.status = 'SUCCEEDED'
         ) made
   where u.project_id = $1 and u.voucher_id > $2
   order by u.voucher_id
   limit $3`;

export const BALANCES = `
  select u.voucher_id as id,
         case when u.amount is null and (u.balance is not null or u.redeemed_amount <> 0)
              then 'has a balance without being a gift'
              when u.balance is distinct from u.amount - made.amount - ${IMPORTED_AMOUNT}
              then format('holds %s; %s less redemptions of %s is %s', u.balance, u.amount, made.amount,
                          u.amount - made.amount)
              when u.amount is not null and u.redeemed_amount <> made.amount + ${IMPORTED_AMOUNT}
              then format('counts redemptions of %s, has %s', u.redeemed_amount, made.amount)
              when u.balance < 0
              then format('is overdrawn: %s', u.balance)
          end as fault
    from voucher_usage u
   cross join lateral (
           select coalesce(sum(r.amount), 0)::int8 as amount from redemption r
            where ${OF_USAGE}
              and r.status = 'SUCCEEDED'
         ) made
   where u.project_id = $1 and u.voucher_id > $2
   order by u.voucher_id
   limit $3`;

export const LEDGERS = `
  select u.voucher_id as id,
         case when u.amount is null and chain.entries > 0
              then 'has a ledger without being a gift'
              when chain.entries <> u.ledger_version
              then format('counts %s entries, has %s', u.ledger_version, chain.entries)
              when chain.gaps > 0
              then format('%s entries are not numbered one after the other', chain.gaps)
              when chain.breaks > 0
              then format('%s balances do not follow from the one before', chain.breaks)
              when u.amount is not null and chain.total is distinct from u.balance
              then format('holds %s, its entries add up to %s', u.balance, chain.total)
              when u.amount is not null and chain.added is distinct from u.amount - ${IMPORTED_AMOUNT}
              then format('has an amount of %s, its additions and removals are %s', u.amount, chain.added)
              when chain.totals > 0
              then format('%s totals do not follow from the additions and removals', chain.totals)
          end as fault
    from voucher_usage u
   cross join lateral (
           select count(*) as entries, coalesce(sum(e.amount), 0)::int8 as total,
                  coalesce(sum(e.amount) filter (where e.redemption_id is null), 0)::int8 as added,
                  count(*) filter (where e.total_after <> e.running_added + ${IMPORTED_AMOUNT}) as totals,
                  count(*) filter (where e.version <> e.position) as gaps,
                  count(*) filter (where e.balance_after <> e.running) as breaks
             from (select version, amount, balance_after, total_after, redemption_id,
                          sum(amount) filter (where redemption_id is null)
                            over (order by version) as running_added,
                          row_number() over (order by version) as position,
                          sum(amount) over (order by version) as running
                     from voucher_ledger_entry
                    where project_id = u.project_id and voucher_id = u.voucher_id) e
         ) chain
   where u.project_id = $1 and u.voucher_id > $2
   order by u.voucher_id
   limit $3`;

export const SPENDS = `
  select u.voucher_id as id, fault.text as fault
    from voucher_usage u
   cross join lateral (
           select string_agg(format('entry %s of %s: redemption %s has %s', e.version, e.amount,
                                    e.redemption_id, coalesce(r.amount::text, 'none')), '; ') as text
             from voucher_ledger_entry e
             left join redemption r
               on r.project_id = e.project_id and r.id = e.redemption_id
              and r.voucher_id = e.voucher_id and r.status <> 'FAILED'
            where e.project_id = u.project_id and e.voucher_id = u.voucher_id
              and e.redemption_id is not null
              and abs(e.amount) is distinct from r.amount
         ) fault
   where u.project_id = $1 and u.voucher_id > $2
   order by u.voucher_id
   limit $3`;

export const OWNERS = `
  select r.id,
         -- A failed redemption may have been decided just before its voucher was deleted for good.
         case when r.voucher_id is null or r.status = 'FAILED' then null
              when v.id is null then format('belongs to no voucher: %s', r.voucher_id)
              when u.voucher_id is null then format('its voucher %s has no counters', r.voucher_id)
          end as fault
    from redemption r
    left join voucher v on v.project_id = r.project_id and v.id = r.voucher_id
    left join voucher_usage u on u.project_id = r.project_id and u.voucher_id = r.voucher_id
   where r.project_id = $1 and r.id > $2
   order by r.id
   limit $3`;
