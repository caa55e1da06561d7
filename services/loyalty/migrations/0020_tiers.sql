-- Loyalty tiers, and the tier of each card.

create table loyalty_tier (
  project_id    text        not null,
  id            text        not null,
  campaign_id   text        not null,
  name          text        not null,
  -- The points that qualify, inclusive; without an upper bound when null.
  points_from   bigint      not null,
  points_to     bigint,
  -- What the tier makes of points and prices, by id of the rule and of the assignment.
  earning_rules jsonb       not null,
  rewards       jsonb       not null,
  metadata      jsonb       not null,
  created_at    timestamptz not null,
  updated_at    timestamptz,
  -- Deleted tiers remain, so that changes can show what members left.
  deleted       boolean     not null default false,
  primary key (project_id, id),
  constraint loyalty_tier_range check (points_from >= 0 and (points_to is null or points_to >= points_from))
);

create index loyalty_tier_project_campaign on loyalty_tier (project_id, campaign_id, created_at, id);

-- What the ledger of a card results in, up to a version. Written under the lock of the row.
create table member_tier (
  project_id      text        not null,
  card_id         text        not null,
  campaign_id     text        not null,
  customer_id     text        not null,
  tier_id         text,
  start_date      date,
  -- The last day in the tier; null: no date.
  expiration_date date,
  -- A tier that starts with the next period.
  next_tier_id    text,
  next_start      date,
  -- The qualification period, and the points that count in it.
  period_start    date,
  period_points   bigint      not null,
  balance         bigint      not null,
  ledger_version  bigint      not null,
  -- The next date on which the tier changes by itself.
  due_on          date,
  created_at      timestamptz not null,
  updated_at      timestamptz,
  primary key (project_id, card_id),
  constraint member_tier_dates check ((tier_id is null) = (start_date is null) and (tier_id is not null or expiration_date is null)),
  constraint member_tier_not_negative check (balance >= 0 and period_points >= 0)
) with (fillfactor = 80);

create index member_tier_due on member_tier (project_id, due_on) where due_on is not null;
