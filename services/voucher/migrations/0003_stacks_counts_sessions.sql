-- Stacked redemptions, promotion tiers, the counts that rules limit, sessions and rollbacks
-- (services/decisions, "Counts and reservations").

-- A redemption is of a voucher, of a promotion tier, or a parent, which stands for its parts. Null
-- costs nothing in a row, so a plain redemption of a code is no larger than before.
alter table redemption
  alter column voucher_id drop not null,
  add column parent_id              text,
  add column promotion_tier_id      text,
  add column campaign_id            text,
  add column session_key            text,
  -- What it adds to the sums of its campaign or tier: kept, so that a rollback takes off the same.
  add column order_amount           bigint,
  add column discounted_amount      bigint,
  -- Discounted units by product.
  add column units                  jsonb,
  -- scrip.common.v1.PromotionTierSummary and Explanation in their binary form.
  add column promotion_tier_message bytea,
  add column explanation            bytea,
  add constraint redemption_of_one_thing check (voucher_id is null or promotion_tier_id is null);

-- The status comes before the time: what counts is then one range, however many attempts failed.
drop index redemption_project_voucher_created_at;
create index redemption_project_voucher_status_created_at
  on redemption (project_id, voucher_id, status, created_at, id) where voucher_id is not null;
create index redemption_project_customer_voucher_created_at
  on redemption (project_id, customer_id, voucher_id, status, created_at)
  where customer_id is not null;
create index redemption_project_campaign_status_created_at
  on redemption (project_id, campaign_id, status, created_at) where campaign_id is not null;
create index redemption_project_campaign_customer_created_at
  on redemption (project_id, campaign_id, customer_id, created_at)
  where campaign_id is not null and customer_id is not null and status = 'SUCCEEDED';
create index redemption_project_tier_created_at
  on redemption (project_id, promotion_tier_id, created_at)
  where promotion_tier_id is not null and status = 'SUCCEEDED';
create index redemption_project_tier_customer_created_at
  on redemption (project_id, promotion_tier_id, customer_id, created_at)
  where promotion_tier_id is not null and customer_id is not null and status = 'SUCCEEDED';
create index redemption_project_parent
  on redemption (project_id, parent_id) where parent_id is not null;
create index redemption_project_created_at on redemption (project_id, created_at, id);

-- What was redeemed in a campaign or by a promotion tier, of all customers. The row is also the lock
-- of the scope: whoever counts in it to decide holds it.
create table redemption_total (
  project_id        text   not null,
  -- Of a campaign or a promotion tier.
  scope_id          text   not null,
  redemptions       bigint not null default 0,
  orders_amount     bigint not null default 0,
  discounted_amount bigint not null default 0,
  gift_credits      bigint not null default 0,

  primary key (project_id, scope_id),
  constraint redemption_total_not_negative
    check (redemptions >= 0 and orders_amount >= 0 and discounted_amount >= 0 and gift_credits >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Discounted units of each product; written under the lock of the scope's total.
create table redemption_units (
  project_id text   not null,
  scope_id   text   not null,
  product_id text   not null,
  quantity   bigint not null,

  primary key (project_id, scope_id, product_id),
  constraint redemption_units_not_negative check (quantity >= 0)
) with (fillfactor = 50);

-- What sessions hold of vouchers (§7): one redemption each, and credits or points.
create table reservation (
  project_id  text        not null,
  session_key text        not null,
  voucher_id  text        not null,
  credits     bigint      not null,
  -- In the project's time.
  expires_at  timestamptz not null,
  -- Real time, some days after it has expired: a sandbox may have another clock.
  kept_until  timestamptz not null,

  primary key (project_id, session_key, voucher_id),
  constraint reservation_holds_no_negative_credits check (credits >= 0)
);

create index reservation_project_voucher on reservation (project_id, voucher_id);
create index reservation_kept_until on reservation (kept_until);

-- Whether sessions may hold something of the voucher that decides about others. Read and written with
-- the row that a redemption locks anyway, so that vouchers without sessions look for none.
alter table voucher_usage add column reserved boolean not null default false;

-- Redemptions taken back, also in vain (id rrf_…).
create table redemption_rollback (
  project_id              text        not null,
  id                      text        not null,
  redemption_id           text        not null,
  -- The rollback of the stacked redemption that this one is a part of.
  parent_id               text,
  voucher_id              text,
  promotion_tier_id       text,
  campaign_id             text,
  created_at              timestamptz not null,
  status                  text        not null,
  -- Gift vouchers: credits given back.
  amount                  bigint,
  reason                  text,
  order_mode              text        not null,
  customer_id             text,
  tracking_id             text,
  metadata                jsonb,
  channel_id              text        not null,
  channel_type            text        not null,
  -- scrip.common.v1.Order in its binary form, as the rollback left it.
  order_message           bytea,
  -- The voucher right after.
  redeemed_quantity_after bigint,
  amount_after            bigint,
  redeemed_amount_after   bigint,
  failure_code            text,
  failure_message         text,
  request_id              text        not null,

  primary key (project_id, id),
  constraint redemption_rollback_status_known check (status in ('SUCCEEDED', 'FAILED')),
  constraint redemption_rollback_failure_has_a_code
    check ((failure_code is not null) = (status = 'FAILED')),
  constraint redemption_rollback_gives_no_negative_amount check (amount >= 0)
);

create index redemption_rollback_project_redemption
  on redemption_rollback (project_id, redemption_id, created_at);
create index redemption_rollback_project_created_at
  on redemption_rollback (project_id, created_at, id);
-- The last line of defence behind domain/rollback.ts: value goes back once.
create unique index redemption_rollback_once
  on redemption_rollback (project_id, redemption_id) where status = 'SUCCEEDED';

-- Answers to rollbacks are another message than those to redemptions.
alter table idempotency add column kind text not null default 'redemption';
