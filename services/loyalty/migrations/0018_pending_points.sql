-- Points that earning rules granted and that become active later, and events that wait for a card.

create table pending_points (
  project_id  text        not null,
  id          text        not null,
  card_id     text        not null,
  campaign_id text        not null,
  customer_id text        not null,
  order_id    text,
  points      bigint      not null,
  status      text        not null default 'PENDING',
  -- The day on which they become active, in the project's time zone.
  activates_on date       not null,
  -- The order and the earning rule: they grant points to a card once.
  cause       text        not null,
  rule_id     text        not null,
  -- What entries and transactions show: the order, the event and the earning rule.
  details     jsonb       not null,
  created_at  timestamptz not null,
  updated_at  timestamptz,
  primary key (project_id, id),
  constraint pending_points_of_something check (points > 0),
  constraint pending_points_status check (status in ('PENDING', 'ACTIVATED', 'CANCELED'))
);

create unique index pending_points_once_per_cause on pending_points (project_id, card_id, cause);
create index pending_points_of_card on pending_points (project_id, card_id, id) where status = 'PENDING';
create index pending_points_of_campaign on pending_points (project_id, campaign_id, id) where status = 'PENDING';
create index pending_points_due on pending_points (project_id, activates_on) where status = 'PENDING';

-- Events of customers without a card of a program that has a rule for them. A card that is published earns what waits
-- for it: the event that says so can arrive later than the event that earns.
create table awaited_card (
  project_id  text        not null,
  customer_id text        not null,
  campaign_id text        not null,
  event_id    text        not null,
  topic       text        not null,
  type        text        not null,
  payload     bytea       not null,
  -- Whether the card was requested (auto_join): then it may be published after the event.
  requested   boolean     not null,
  created_at  timestamptz not null default now(),
  primary key (project_id, customer_id, campaign_id, event_id)
);

create index awaited_card_created_at on awaited_card (created_at);
