-- Loyalty cards with their points, and what points are given for.

create table reward (
  project_id  text        not null,
  id          text        not null,
  name        text,
  type        text        not null,
  -- Of the type, as they were sent; the kind of a campaign as it was then.
  parameters  jsonb       not null,
  -- How often it can be redeemed; null without a limit.
  stock       bigint,
  redeemed    bigint      not null default 0,
  attributes  jsonb       not null,
  metadata    jsonb       not null,
  created_at  timestamptz not null,
  updated_at  timestamptz,

  primary key (project_id, id),
  constraint reward_type check (type in ('CAMPAIGN', 'MATERIAL', 'COIN')),
  constraint reward_not_given_back_twice check (redeemed >= 0)
);

create index reward_project_created_at on reward (project_id, created_at, id);

-- The programmes that a reward can be had in. Campaigns belong to another service.
create table reward_assignment (
  project_id  text        not null,
  id          text        not null,
  reward_id   text        not null,
  campaign_id text        not null,
  -- The price; null of a reward that has a ratio.
  points      bigint,
  auto_redeem boolean,
  created_at  timestamptz not null,
  updated_at  timestamptz,

  primary key (project_id, id),
  constraint reward_assignment_of_reward foreign key (project_id, reward_id) references reward,
  constraint reward_assignment_price check (points > 0)
);

create unique index reward_assignment_once on reward_assignment (project_id, campaign_id, reward_id);
create unique index reward_assignment_one_auto_redeem
  on reward_assignment (project_id, campaign_id) where auto_redeem;
create index reward_assignment_project_reward on reward_assignment (project_id, reward_id, created_at);

-- What is left of a card: the row that everything that moves points locks. Opened at the first touch with
-- the points that the card was made with.
create table loyalty_card (
  project_id        text        not null,
  -- Of the voucher.
  id                text        not null,
  -- All that was ever put on the card, …
  points            bigint      not null,
  -- … and what became of it.
  redeemed_points   bigint      not null default 0,
  subtracted_points bigint      not null default 0,
  expired_points    bigint      not null default 0,
  balance           bigint      not null,
  -- Of the balance, what pending spends hold.
  held_points       bigint      not null default 0,
  -- The number of ledger entries.
  ledger_version    bigint      not null default 0,
  opened_at         timestamptz not null,

  primary key (project_id, id),
  constraint loyalty_card_figures
    check (balance = points - redeemed_points - subtracted_points - expired_points),
  constraint loyalty_card_not_overdrawn check (balance >= 0 and held_points between 0 and balance),
  constraint loyalty_card_not_negative
    check (points >= 0 and redeemed_points >= 0 and subtracted_points >= 0 and expired_points >= 0)
) with (fillfactor = 50);

-- Only ever added to. The first points of a card are no entry.
create table ledger_entry (
  project_id    text        not null,
  card_id       text        not null,
  version       bigint      not null,
  id            text        not null,
  type          text        not null,
  points        bigint      not null,
  balance_after bigint      not null,
  -- What moved the points: a spend or a rollback. It moves them once.
  cause         text        not null,
  redemption_id text,
  rollback_id   text,
  reward_id     text,
  created_at    timestamptz not null,

  primary key (project_id, card_id, version),
  constraint ledger_entry_not_overdrawn check (balance_after >= 0)
);

create unique index ledger_entry_once_per_cause on ledger_entry (project_id, card_id, cause);

-- Points that a redemption is to take. Pending until it is known whether the redemption was made.
create table points_spend (
  project_id      text        not null,
  id              text        not null,
  card_id         text        not null,
  points          bigint      not null,
  status          text        not null,
  -- The same for all tries of one request.
  request_key     text,
  reward_id       text        not null,
  takes_stock     boolean     not null,
  redemption_id   text,
  -- What the session held that the spend took the place of.
  session_key     text,
  locked_points   bigint,
  locked_until    timestamptz,
  -- The project's time.
  at              timestamptz not null,
  -- The database's.
  created_at      timestamptz not null default now(),

  primary key (project_id, id),
  constraint points_spend_of_something check (points > 0),
  constraint points_spend_status check (status in ('PENDING', 'CONFIRMED', 'RETURNED')),
  constraint points_spend_taken check ((status = 'CONFIRMED') = (redemption_id is not null))
);

create index points_spend_pending_card on points_spend (project_id, card_id) where status = 'PENDING';
create index points_spend_pending on points_spend (created_at) where status = 'PENDING';

-- What sessions hold of cards, until an instant of the project's time.
create table points_lock (
  project_id  text        not null,
  card_id     text        not null,
  session_key text        not null,
  points      bigint      not null,
  locked_at   timestamptz not null,
  expires_at  timestamptz not null,
  -- The database's time: when nobody can want it any more.
  kept_until  timestamptz not null,

  primary key (project_id, card_id, session_key),
  constraint points_lock_of_something check (points > 0)
);

create index points_lock_project_session on points_lock (project_id, session_key);
create index points_lock_kept_until on points_lock (kept_until);
