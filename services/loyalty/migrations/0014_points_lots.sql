-- Points that expire, manual changes of balances, and the figures that they change.
--
-- A lot holds the points of a card that expire on one date. What no lot holds never expires, so that cards
-- without expiring points have no rows here.

alter table loyalty_card
  add column campaign_id text,
  -- Points that earning rules granted and that are not active yet; in neither points nor balance.
  add column pending_points bigint not null default 0,
  -- The earliest date of a lot that holds points, and the points of that date.
  add column next_expires_on date,
  add column next_expiring_points bigint not null default 0,
  add constraint loyalty_card_pending_not_negative check (pending_points >= 0),
  add constraint loyalty_card_next_expiration
    check ((next_expires_on is null) = (next_expiring_points = 0)
           and next_expiring_points between 0 and balance);

create index loyalty_card_next_expiration
  on loyalty_card (project_id, next_expires_on) where next_expires_on is not null;

create table points_lot (
  project_id  text        not null,
  card_id     text        not null,
  id          text        not null,
  -- The last day on which the points can be spent, in the project's time zone.
  expires_on  date        not null,
  -- What is left; of an expired lot, what expired.
  points      bigint      not null,
  expired     boolean     not null default false,
  created_at  timestamptz not null,
  updated_at  timestamptz,

  primary key (project_id, card_id, id),
  constraint points_lot_not_overdrawn check (points >= 0)
);

-- Credits of one card and date share one lot.
create unique index points_lot_active on points_lot (project_id, card_id, expires_on) where not expired;

alter table ledger_entry
  add column campaign_id text,
  -- The change of the card's lots by date; null when only points that never expire changed.
  add column lots jsonb,
  -- Points, less expired and subtracted ones, after the entry.
  add column total_after bigint,
  add column source text,
  add column source_id text,
  add column reason text,
  add column related_id text,
  add column details jsonb;

create index ledger_entry_project_campaign_id
  on ledger_entry (project_id, campaign_id, id) where campaign_id is not null;
