-- Vouchers, what is left of them, and the books of every redemption.
--
-- Money is bigint minor units. Every key starts with project_id: a project is the tenant, and no
-- query may cross it. A voucher is two rows: `voucher` is wide and changes when somebody edits it,
-- `voucher_usage` is narrow and changes with every redemption. An update writes the whole row anew,
-- so the counters must not drag the definition along.

create table voucher (
  project_id           text        not null,
  id                   text        not null,
  code                 text        not null,
  -- What a code is found by. The code itself, or, where case does not count, \u0001 and the code in
  -- lower case: no code holds a control character, so the two kinds never meet. Null frees the code.
  code_key             text,
  type                 text        not null,
  campaign_id          text,
  category_id          text,
  discount             jsonb,
  gift_effect          text,
  loyalty_points       bigint,
  start_date           timestamptz,
  expiration_date      timestamptz,
  validity_timeframe   jsonb,
  validity_day_of_week smallint[],
  validity_hours       jsonb,
  active               boolean,
  additional_info      text,
  metadata             jsonb       not null,
  asset_id             text        not null,
  is_referral_code     boolean     not null,
  holder_id            text,
  referrer_id          text,
  created_at           timestamptz not null,
  updated_at           timestamptz,
  deleted_at           timestamptz,
  definition_version   bigint      not null,

  primary key (project_id, id),
  constraint voucher_type_known
    check (type in ('DISCOUNT_VOUCHER', 'GIFT_VOUCHER', 'LOYALTY_CARD')),
  constraint voucher_discount_only_on_discount_vouchers
    check ((discount is not null) = (type = 'DISCOUNT_VOUCHER')),
  constraint voucher_gift_effect_only_on_gifts
    check ((gift_effect is not null) = (type = 'GIFT_VOUCHER')),
  constraint voucher_points_only_on_cards
    check ((loyalty_points is not null) = (type = 'LOYALTY_CARD')),
  constraint voucher_ends_after_its_start check (expiration_date >= start_date)
);

create unique index voucher_project_code_key on voucher (project_id, code_key);
create index voucher_project_created_at on voucher (project_id, created_at, id)
  where deleted_at is null;

-- The only row that a redemption locks and updates. It repeats the version of the definition, so
-- that a decision made on another one is noticed under this lock.
create table voucher_usage (
  project_id         text    not null,
  voucher_id         text    not null,
  definition_version bigint  not null,
  deleted            boolean not null default false,
  quantity           bigint,
  redeemed_quantity  bigint  not null default 0,
  -- Gift vouchers only: what was put on the card, and what is left.
  amount             bigint,
  balance            bigint,
  redeemed_amount    bigint  not null default 0,
  version            bigint  not null default 0,
  ledger_version     bigint  not null default 0,

  primary key (project_id, voucher_id),
  -- The last line of defence behind domain/commit.ts: a bug there must not pay out twice.
  constraint voucher_not_overused
    check (redeemed_quantity >= 0 and (quantity is null or redeemed_quantity <= quantity)),
  constraint voucher_not_overdrawn check (balance >= 0),
  constraint voucher_balance_adds_up check (balance = amount - redeemed_amount),
  constraint voucher_balance_with_amount check ((balance is null) = (amount is null))
  -- Half of each page stays free: a new version of a row then fits beside the old one, no index is
  -- touched, and the space is reused without vacuum (HOT).
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Gift balances are folds of these. Never updated, never deleted.
create table voucher_ledger_entry (
  project_id    text        not null,
  voucher_id    text        not null,
  -- Counts the entries of a voucher from 1 without gaps.
  version       bigint      not null,
  amount        bigint      not null,
  balance_after bigint      not null,
  -- Null for the first entry, which is what the card was made with.
  redemption_id text,
  created_at    timestamptz not null,

  primary key (project_id, voucher_id, version),
  constraint voucher_ledger_entry_counts_from_one check (version >= 1),
  constraint voucher_ledger_entry_not_overdrawn check (balance_after >= 0)
);

-- Every redemption, also a refused one (id rf_…), which took nothing.
create table redemption (
  project_id              text        not null,
  id                      text        not null,
  voucher_id              text        not null,
  created_at              timestamptz not null,
  status                  text        not null,
  -- Gift vouchers: credits taken.
  amount                  bigint,
  customer_id             text,
  tracking_id             text,
  metadata                jsonb,
  channel_id              text        not null,
  channel_type            text        not null,
  -- scrip.common.v1.Order and Customer in their binary form.
  order_message           bytea,
  customer_message        bytea,
  -- The voucher right after.
  redeemed_quantity_after bigint,
  amount_after            bigint,
  redeemed_amount_after   bigint,
  failure_code            text,
  failure_message         text,
  request_id              text        not null,

  primary key (project_id, id),
  constraint redemption_status_known check (status in ('SUCCEEDED', 'FAILED', 'ROLLED_BACK')),
  constraint redemption_failure_has_a_code check ((failure_code is not null) = (status = 'FAILED')),
  constraint redemption_takes_no_negative_amount check (amount >= 0)
);

create index redemption_project_voucher_created_at
  on redemption (project_id, voucher_id, created_at, id);

-- Events that became true with the rows beside them, waiting to be published (@scrip/events).
create table outbox (
  project_id text        not null,
  id         text        not null,
  topic      text        not null,
  key        text        not null,
  type       text,
  payload    bytea       not null,
  -- Of the insert, not of its transaction: under the lock of the voucher, whose id is the key, that
  -- is the order of the commits.
  created_at timestamptz not null default clock_timestamp(),

  primary key (project_id, id)
);

create index outbox_created_at on outbox (created_at, id);

-- Which of the processes moves the outbox on: one row.
create table outbox_lease (
  name       text        not null primary key,
  owner      text        not null,
  expires_at timestamptz not null
);

-- Answers to give again to a repeat of the same request (scrip.voucher.v1.CommitOutcome).
create table idempotency (
  project_id   text        not null,
  key          text        not null,
  request_hash bytea       not null,
  outcome      bytea       not null,
  -- Real time, not the project's: how long an answer is kept does not follow a sandbox clock.
  created_at   timestamptz not null default now(),

  primary key (project_id, key)
);

-- Rows arrive in the order of time, so a block range index finds the old ones at no cost to a commit.
create index idempotency_created_at on idempotency using brin (created_at);
