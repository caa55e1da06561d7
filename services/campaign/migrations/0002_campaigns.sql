-- Campaigns, and what promotions are made of: tiers and stacks. Amounts are minor units.

create table campaign (
  project_id                  text        not null,
  id                          text        not null,
  name                        text        not null,
  description                 text,
  campaign_type               text        not null,
  -- AUTO_UPDATE, STATIC or STANDALONE.
  type                        text        not null,
  auto_join                   boolean     not null,
  join_once                   boolean     not null,
  use_voucher_metadata_schema boolean     not null,
  active                      boolean     not null,
  protected                   boolean     not null default false,
  creation_status             text        not null,
  vouchers_generation_status  text        not null,
  -- Those that were made here; the vouchers themselves are in another service.
  vouchers_count              bigint      not null default 0,
  -- Of a category that may be deleted by now: then it is in none.
  category_id                 text,
  start_date                  timestamptz,
  expiration_date             timestamptz,
  validity_timeframe          jsonb,
  validity_day_of_week        smallint[],
  validity_hours              jsonb,
  activity_duration           text,
  metadata                    jsonb       not null,
  -- What its vouchers are made of; null for promotions, which have none.
  voucher                     jsonb,
  referral_program            jsonb,
  loyalty_tiers_expiration    jsonb,
  created_at                  timestamptz not null,
  updated_at                  timestamptz,
  -- Whose turn it is to change it together with its vouchers, which another service has: no transaction
  -- may be open that long. Real time; whoever does not come back loses the turn then.
  turn                        text,
  turn_ends_at                timestamptz,

  primary key (project_id, id),
  constraint campaign_type_known check (campaign_type in
    ('LOYALTY_PROGRAM', 'GIFT_VOUCHERS', 'DISCOUNT_COUPONS', 'PROMOTION', 'REFERRAL_PROGRAM')),
  constraint campaign_kind_known check (type in ('AUTO_UPDATE', 'STATIC', 'STANDALONE')),
  constraint campaign_ends_after_its_start check (expiration_date >= start_date),
  constraint campaign_counts_from_zero check (vouchers_count >= 0),
  constraint campaign_makes_vouchers check ((voucher is null) = (campaign_type = 'PROMOTION'))
);

create unique index campaign_project_name on campaign (project_id, name);
create index campaign_project_created_at on campaign (project_id, created_at, id);

create table promotion_tier (
  project_id           text        not null,
  id                   text        not null,
  campaign_id          text        not null,
  name                 text        not null,
  banner               text,
  discount             jsonb       not null,
  hierarchy            bigint      not null,
  active               boolean     not null,
  category_id          text,
  start_date           timestamptz,
  expiration_date      timestamptz,
  validity_timeframe   jsonb,
  validity_day_of_week smallint[],
  validity_hours       jsonb,
  metadata             jsonb       not null,
  created_at           timestamptz not null,
  updated_at           timestamptz,

  primary key (project_id, id),
  constraint promotion_tier_hierarchy_not_negative check (hierarchy >= 0),
  constraint promotion_tier_ends_after_its_start check (expiration_date >= start_date),
  constraint promotion_tier_of_a_campaign
    foreign key (project_id, campaign_id) references campaign (project_id, id) on delete cascade
);

create index promotion_tier_project_campaign on promotion_tier (project_id, campaign_id, hierarchy);
create index promotion_tier_project_created_at on promotion_tier (project_id, created_at, id);

create table promotion_stack (
  project_id  text        not null,
  id          text        not null,
  campaign_id text        not null,
  name        text        not null,
  -- In the order in which they apply. Who writes them holds the tiers, and who deletes a tier looks
  -- for it here while holding it.
  tier_ids    text[]      not null,
  category_id text,
  metadata    jsonb       not null,
  created_at  timestamptz not null,
  updated_at  timestamptz,

  primary key (project_id, id),
  constraint promotion_stack_has_tiers check (cardinality(tier_ids) between 1 and 30),
  constraint promotion_stack_of_a_campaign
    foreign key (project_id, campaign_id) references campaign (project_id, id) on delete cascade
);

create index promotion_stack_project_campaign on promotion_stack (project_id, campaign_id, id);
create index promotion_stack_project_created_at on promotion_stack (project_id, created_at, id);

-- Counts the changes of what the processes remember: categories, campaigns, tiers and stacks.
create table definition_version (
  project_id text   not null primary key,
  version    bigint not null
);
