import { sqlCheck, type InvariantCheck, listProjectsIn, type Queryable } from "@scrip/postgres";

export { type AuditedPointsHold, readPointsHolds } from "./points-hold-audit.ts";

/** All projects with open cards, including projects that the gateway has deleted. */
export const listLoyaltyProjects = (db: Queryable): Promise<readonly string[]> =>
  listProjectsIn(db, "loyalty_card");

const HELD = `
  select c.id,
         case when c.held_points <> pending.points
              then format('holds %s points, its pending holds %s', c.held_points, pending.points)
          end as fault
    from loyalty_card c
   cross join lateral (
           select coalesce(sum(s.points), 0)::int8 as points from points_spend s
            where s.project_id = c.project_id and s.card_id = c.id and s.status = 'PENDING'
         ) pending
   where c.project_id = $1 and c.id > $2
   order by c.id
   limit $3`;

const CHAINS = `
  select c.id,
         case when e.count <> c.ledger_version
              then format('has %s entries, its version is %s', e.count, c.ledger_version)
              when e.count > 0 and (e.first <> 1 or e.last <> e.count)
              then format('its %s entries are numbered from %s to %s', e.count, e.first, e.last)
              when e.broken > 0
              then format('%s balances do not follow from the one before', e.broken)
              when e.count > 0 and e.balance <> c.balance
              then format('has %s points, its last entry %s', c.balance, e.balance)
          end as fault
    from loyalty_card c
   cross join lateral (
           select count(*) as count, min(version) as first, max(version) as last,
                  count(*) filter (where balance_after <> before + points) as broken,
                  (array_agg(balance_after order by version desc))[1] as balance
             from (select version, points, balance_after,
                          lag(balance_after) over (order by version) as before
                     from ledger_entry l
                    where l.project_id = c.project_id and l.card_id = c.id) entries
         ) e
   where c.project_id = $1 and c.id > $2
   order by c.id
   limit $3`;

const REDEEMED = `
  select c.id,
         case when c.redeemed_points <> - e.points
              then format('has %s redeemed points, its entries %s', c.redeemed_points, - e.points)
          end as fault
    from loyalty_card c
   cross join lateral (
           select coalesce(sum(l.points), 0)::int8 as points from ledger_entry l
            where l.project_id = c.project_id and l.card_id = c.id
              and l.type in ('POINTS_REDEMPTION', 'POINTS_REFUND')
         ) e
   where c.project_id = $1 and c.id > $2
   order by c.id
   limit $3`;

const HOLDS = `
  select s.id,
         case when s.status = 'CONFIRMED' and taken.points is distinct from - s.points
              then format('claimed %s points, its entry has %s', s.points, taken.points)
              when s.status <> 'CONFIRMED' and taken.points is not null
              then format('is %s and has an entry', s.status)
          end as fault
    from points_spend s
    left join ledger_entry taken
      on taken.project_id = s.project_id and taken.card_id = s.card_id and taken.cause = s.id
   where s.project_id = $1 and s.id > $2
   order by s.id
   limit $3`;

const LOCKS = `
  select c.id,
         case when locked.points > c.balance - c.held_points
              then format('sessions lock %s of %s points', locked.points, c.balance - c.held_points)
          end as fault
    from loyalty_card c
   cross join lateral (
           select coalesce(sum(l.points), 0)::int8 as points from points_lock l
            where l.project_id = c.project_id and l.card_id = c.id and l.expires_at > now()
         ) locked
   where c.project_id = $1 and c.id > $2
   order by c.id
   limit $3`;

/** Invariants that table constraints cannot express (docs/operations.md#invariants). */
export const loyaltyInvariants: readonly InvariantCheck[] = [
  {
    name: "I1 cards",
    states:
      "the held points of a card are the sum of its pending holds, and no more than its balance",
    checkChunk: sqlCheck(HELD),
  },
  {
    name: "I4 points",
    states:
      "entries of a card are numbered from 1 without gaps, and each balance follows from the one before",
    checkChunk: sqlCheck(CHAINS),
  },
  {
    name: "I5 redeemed points",
    states: "the redeemed points of a card are the sum of its redemptions and refunds",
    checkChunk: sqlCheck(REDEEMED),
  },
  {
    name: "I7 points holds",
    states: "a claimed hold has exactly one ledger entry, a released hold has none",
    checkChunk: sqlCheck(HOLDS),
  },
  {
    name: "I1 locked points",
    states:
      "the points that unexpired sessions lock are no more than the available points of the card",
    checkChunk: sqlCheck(LOCKS),
  },
];
