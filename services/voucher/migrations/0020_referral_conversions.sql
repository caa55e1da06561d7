-- Terms of referral programs, binary messages: ReferralTerms and ReferralTiers of scrip.voucher.v1. Without terms,
-- redemptions convert and pay nothing.
alter table voucher_campaign
  add column active         boolean not null default true,
  add column referral_terms bytea,
  add column referral_tiers bytea;

-- One row for each referral code and referee.
create table referral_conversion (
  project_id   text        not null,
  id           text        not null,
  voucher_id   text        not null,
  referee_id   text        not null,
  referrer_id  text        not null,
  campaign_id  text        not null,
  -- What caused it: a redemption, an order or a custom event.
  cause_type   text        not null,
  cause_id     text        not null,
  converted_at timestamptz not null,

  primary key (project_id, id),
  constraint referral_conversion_cause_known check (cause_type in ('redemption', 'order', 'event')),
  constraint referral_conversion_by_another check (referee_id <> referrer_id)
);

create unique index referral_conversion_once
  on referral_conversion (project_id, voucher_id, referee_id);
create index referral_conversion_project_referrer
  on referral_conversion (project_id, referrer_id, campaign_id, referee_id);
create index referral_conversion_project_referee on referral_conversion (project_id, referee_id);

-- What conversions pay. A row is inserted with its conversion, and paid in the transaction of the payment.
create table referral_reward (
  project_id           text        not null,
  id                   text        not null,
  -- What it is paid for, so that it is paid once.
  reward_key           text        not null,
  referral_campaign_id text        not null,
  tier_id              text,
  -- The customer must be in it when the reward is paid.
  segment_id           text,
  referrer_id          text        not null,
  referee_id           text        not null,
  customer_id          text        not null,
  -- The campaign of the voucher that is credited.
  campaign_id          text        not null,
  voucher_type         text        not null,
  amount               bigint      not null,
  status               text        not null default 'PENDING',
  attempts             int         not null default 0,
  next_attempt_at      timestamptz,
  -- Why the last attempt failed, or why the reward was canceled.
  reason               text,
  created_at           timestamptz not null,
  paid_at              timestamptz,
  paid_voucher_id      text,
  -- Gift credits: the entry in the ledger of the voucher.
  ledger_version       bigint,

  primary key (project_id, id),
  constraint referral_reward_status_known check (status in ('PENDING', 'PAID', 'CANCELED', 'FAILED')),
  constraint referral_reward_type_known check (voucher_type in ('GIFT_VOUCHER', 'LOYALTY_CARD')),
  constraint referral_reward_positive check (amount > 0),
  constraint referral_reward_tried_while_pending
    check ((next_attempt_at is not null) = (status = 'PENDING')),
  constraint referral_reward_paid_to_a_voucher
    check ((paid_voucher_id is not null and paid_at is not null) = (status = 'PAID'))
);

create unique index referral_reward_once on referral_reward (project_id, reward_key);
create index referral_reward_due on referral_reward (next_attempt_at) where status = 'PENDING';
create index referral_reward_project_customer on referral_reward (project_id, customer_id);
