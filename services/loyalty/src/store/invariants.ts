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

const REMOVED = `
  select c.id,
         case when c.subtracted_points <> - e.removed
              then format('has %s subtracted points, its entries %s', c.subtracted_points, - e.removed)
              when c.expired_points <> - e.expired
              then format('has %s expired points, its entries %s', c.expired_points, - e.expired)
              when e.total <> c.points - c.expired_points - c.subtracted_points
              then format('has %s points in total, its last entry %s',
                          c.points - c.expired_points - c.subtracted_points, e.total)
          end as fault
    from loyalty_card c
   cross join lateral (
           select coalesce(sum(l.points) filter (where l.type in ('POINTS_REMOVAL', 'POINTS_TRANSFER_OUT')), 0)::int8
                    as removed,
                  coalesce(sum(l.points) filter (where l.type = 'POINTS_EXPIRATION'), 0)::int8 as expired,
                  (array_agg(l.total_after order by l.version desc))[1] as total
             from ledger_entry l
            where l.project_id = c.project_id and l.card_id = c.id
         ) e
   where c.project_id = $1 and c.id > $2
   order by c.id
   limit $3`;

/** What no lot holds never expires, so that the lots and that rest are the balance. */
const LOTS = `
  select c.id,
         case when lots.points > c.balance
              then format('has %s points, its lots %s', c.balance, lots.points)
              when lots.next is distinct from c.next_expires_on
              then format('expires next on %s, its lots on %s', c.next_expires_on, lots.next)
              when c.next_expiring_points <> coalesce(lots.of_next, 0)
              then format('%s points expire next, of its lots %s', c.next_expiring_points, lots.of_next)
              when lots.changed is not null
              then format('the lot of %s has other points than its entries', lots.changed)
          end as fault
    from loyalty_card c
   cross join lateral (
           select coalesce(sum(d.points), 0)::int8 as points,
                  min(d.expires_on) filter (where d.points > 0) as next,
                  (array_agg(d.points order by d.expires_on) filter (where d.points > 0))[1] as of_next,
                  min(d.expires_on) filter (where d.points <> d.recorded) as changed
             from (select coalesce(lot.expires_on, entries.expires_on) as expires_on,
                          coalesce(lot.points, 0) as points, coalesce(entries.recorded, 0) as recorded
                     from (select expires_on, points from points_lot l
                            where l.project_id = c.project_id and l.card_id = c.id and not l.expired) lot
                     full join (select key::date as expires_on, sum(value::int8) as recorded
                                  from ledger_entry l
                                 cross join jsonb_each_text(l.lots)
                                 where l.project_id = c.project_id and l.card_id = c.id
                                 group by key) entries using (expires_on)) d
         ) lots
   where c.project_id = $1 and c.id > $2
   order by c.id
   limit $3`;

const PENDING = `
  select c.id,
         case when c.pending_points <> pending.points
              then format('has %s pending points, its pending entries %s', c.pending_points, pending.points)
          end as fault
    from loyalty_card c
   cross join lateral (
           select coalesce(sum(e.points), 0)::int8 as points from pending_points e
            where e.project_id = c.project_id and e.card_id = c.id and e.status = 'PENDING'
         ) pending
   where c.project_id = $1 and c.id > $2
   order by c.id
   limit $3`;

/** A tier follows the ledger up to a version, and counts the balance of that entry. */
const TIERS = `
  select m.card_id as id,
         case when m.ledger_version > coalesce(c.ledger_version, 0)
              then format('follows the ledger to version %s, its last is %s', m.ledger_version, coalesce(c.ledger_version, 0))
              when e.balance_after is not null and e.balance_after <> m.balance
              then format('counts %s points, the card had %s', m.balance, e.balance_after)
              when m.tier_id is not null and t.id is null
              then format('is in the tier %s, which its program does not have', m.tier_id)
              when m.next_tier_id is not null and n.id is null
              then format('waits for the tier %s, which its program does not have', m.next_tier_id)
          end as fault
    from member_tier m
    left join loyalty_card c on c.project_id = m.project_id and c.id = m.card_id
    left join ledger_entry e
      on e.project_id = m.project_id and e.card_id = m.card_id and e.version = m.ledger_version
    left join loyalty_tier t
      on t.project_id = m.project_id and t.id = m.tier_id and t.campaign_id = m.campaign_id
    left join loyalty_tier n
      on n.project_id = m.project_id and n.id = m.next_tier_id and n.campaign_id = m.campaign_id
   where m.project_id = $1 and m.card_id > $2
   order by m.card_id
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
    name: "I2 removed points",
    states:
      "the subtracted and expired points of a card are the sums of their entries, and its total is that of the last entry",
    checkChunk: sqlCheck(REMOVED),
  },
  {
    name: "I3 lots",
    states:
      "the lots of a card hold no more than its balance and what its entries put into them, and its next expiration is theirs",
    checkChunk: sqlCheck(LOTS),
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
    name: "I6 pending points",
    states: "the pending points of a card are the sum of its pending entries",
    checkChunk: sqlCheck(PENDING),
  },
  {
    name: "I7 points holds",
    states: "a claimed hold has exactly one ledger entry, a released hold has none",
    checkChunk: sqlCheck(HOLDS),
  },
  {
    name: "I8 tiers",
    states:
      "a card is in a tier of its program, which follows its ledger and counts the balance of the entry that it has reached",
    checkChunk: sqlCheck(TIERS),
  },
  {
    name: "I1 locked points",
    states:
      "the points that unexpired sessions lock are no more than the available points of the card",
    checkChunk: sqlCheck(LOCKS),
  },
];
