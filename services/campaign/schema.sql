-- Made from the migrations by services/shared/testing/src/golden-schemas.ts; do not edit.

create sequence outbox_seq;

create table bin_entry (
  project_id text not null,
  id text not null,
  resource_id text not null,
  resource_type text not null,
  resource_name text,
  resource_parent_id text,
  created_at timestamp with time zone not null,
  constraint bin_entry_pkey PRIMARY KEY (project_id, id),
  constraint bin_entry_type_known CHECK (resource_type = ANY (ARRAY['campaign'::text, 'voucher'::text, 'product'::text, 'sku'::text]))
);

create table campaign (
  project_id text not null,
  id text not null,
  name text not null,
  description text,
  campaign_type text not null,
  type text not null,
  auto_join boolean not null,
  join_once boolean not null,
  use_voucher_metadata_schema boolean not null,
  active boolean not null,
  protected boolean default false not null,
  creation_status text not null,
  vouchers_generation_status text not null,
  vouchers_count bigint default 0 not null,
  category_id text,
  start_date timestamp with time zone,
  expiration_date timestamp with time zone,
  validity_timeframe jsonb,
  validity_day_of_week smallint[],
  validity_hours jsonb,
  activity_duration text,
  metadata jsonb not null,
  voucher jsonb,
  referral_program jsonb,
  loyalty_tiers_expiration jsonb,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  turn text,
  turn_ends_at timestamp with time zone,
  deleted_at timestamp with time zone,
  constraint campaign_pkey PRIMARY KEY (project_id, id),
  constraint campaign_counts_from_zero CHECK (vouchers_count >= 0),
  constraint campaign_ends_after_its_start CHECK (expiration_date >= start_date),
  constraint campaign_kind_known CHECK (type = ANY (ARRAY['AUTO_UPDATE'::text, 'STATIC'::text, 'STANDALONE'::text])),
  constraint campaign_makes_vouchers CHECK ((voucher IS NULL) = (campaign_type = 'PROMOTION'::text)),
  constraint campaign_type_known CHECK (campaign_type = ANY (ARRAY['LOYALTY_PROGRAM'::text, 'GIFT_VOUCHERS'::text, 'DISCOUNT_COUPONS'::text, 'PROMOTION'::text, 'REFERRAL_PROGRAM'::text]))
);

create table campaign_import (
  project_id text not null,
  campaign_id text not null,
  id text not null,
  ended_at timestamp with time zone,
  constraint campaign_import_pkey PRIMARY KEY (project_id, campaign_id, id),
  constraint campaign_import_of_a_campaign FOREIGN KEY (project_id, campaign_id) REFERENCES campaign(project_id, id) ON DELETE CASCADE
);

create table campaign_job (
  project_id text not null,
  id text not null,
  campaign_id text not null,
  type text not null,
  request bytea,
  permanent boolean default false not null,
  total bigint not null,
  done bigint default 0 not null,
  position text default ''::text not null,
  status text default 'PENDING'::text not null,
  created_at timestamp with time zone not null,
  constraint campaign_job_pkey PRIMARY KEY (project_id, id),
  constraint campaign_job_counts_from_zero CHECK (total >= 0 AND done >= 0),
  constraint campaign_job_status_known CHECK (status = ANY (ARRAY['PENDING'::text, 'DONE'::text, 'FAILED'::text])),
  constraint campaign_job_type_known CHECK (type = ANY (ARRAY['GENERATE'::text, 'UPDATE'::text, 'DELETE'::text]))
);

create table campaign_validation (
  project_id text not null,
  campaign_id text not null,
  day date not null,
  succeeded bigint not null,
  failed bigint not null,
  constraint campaign_validation_pkey PRIMARY KEY (project_id, campaign_id, day),
  constraint campaign_validation_counts_from_zero CHECK (succeeded >= 0 AND failed >= 0),
  constraint campaign_validation_of_a_campaign FOREIGN KEY (project_id, campaign_id) REFERENCES campaign(project_id, id) ON DELETE CASCADE
);

create table category (
  project_id text not null,
  id text not null,
  name text not null,
  hierarchy bigint not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint category_pkey PRIMARY KEY (project_id, id),
  constraint category_hierarchy_not_negative CHECK (hierarchy >= 0)
);

create table definition_version (
  project_id text not null,
  version bigint not null,
  constraint definition_version_pkey PRIMARY KEY (project_id)
);

create table inbox (
  project_id text not null,
  consumer text not null,
  event_id text not null,
  seen_at timestamp with time zone default clock_timestamp() not null
) partition by RANGE (seen_at);

create table inbox_default partition of inbox (
  constraint inbox_default_pkey PRIMARY KEY (project_id, consumer, event_id)
) DEFAULT;

create table outbox (
  project_id text not null,
  id text not null,
  topic text not null,
  key text not null,
  type text,
  payload bytea not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  schema_version smallint,
  entity_version bigint,
  headers jsonb,
  xid xid8 default pg_current_xact_id() not null,
  seq bigint default 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('outbox_seq'::regclass)
    ELSE NULL::bigint
END not null
) partition by RANGE (created_at);

create table outbox_default partition of outbox DEFAULT;

create table outbox_position (
  name text not null,
  owner text,
  expires_at timestamp with time zone,
  version bigint default 0 not null,
  published pg_snapshot,
  reading pg_snapshot,
  read_seq bigint default 0 not null,
  low_seq bigint default 0 not null,
  mark_xid xid8,
  mark_seq bigint default 0 not null,
  constraint outbox_position_pkey PRIMARY KEY (name)
) with (fillfactor=50);

create table project (
  project_id text not null,
  version bigint not null,
  deleted boolean not null,
  time_zone text not null,
  first_weekday smallint not null,
  case_sensitive_codes boolean not null,
  default_code_config text,
  sandbox_now timestamp with time zone,
  webhook_events jsonb default '[]'::jsonb not null,
  has_earning_rules boolean default false not null,
  cancel_pending_points_on_order_cancel boolean default false not null,
  constraint project_pkey PRIMARY KEY (project_id)
);

create table promotion_stack (
  project_id text not null,
  id text not null,
  campaign_id text not null,
  name text not null,
  tier_ids text[] not null,
  category_id text,
  metadata jsonb not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint promotion_stack_pkey PRIMARY KEY (project_id, id),
  constraint promotion_stack_has_tiers CHECK (cardinality(tier_ids) >= 1 AND cardinality(tier_ids) <= 30),
  constraint promotion_stack_of_a_campaign FOREIGN KEY (project_id, campaign_id) REFERENCES campaign(project_id, id) ON DELETE CASCADE
);

create table promotion_tier (
  project_id text not null,
  id text not null,
  campaign_id text not null,
  name text not null,
  banner text,
  discount jsonb not null,
  hierarchy bigint not null,
  active boolean not null,
  category_id text,
  start_date timestamp with time zone,
  expiration_date timestamp with time zone,
  validity_timeframe jsonb,
  validity_day_of_week smallint[],
  validity_hours jsonb,
  metadata jsonb not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint promotion_tier_pkey PRIMARY KEY (project_id, id),
  constraint promotion_tier_ends_after_its_start CHECK (expiration_date >= start_date),
  constraint promotion_tier_hierarchy_not_negative CHECK (hierarchy >= 0),
  constraint promotion_tier_of_a_campaign FOREIGN KEY (project_id, campaign_id) REFERENCES campaign(project_id, id) ON DELETE CASCADE
);

create table promotion_tier_usage (
  project_id text not null,
  tier_id text not null,
  redemptions bigint not null,
  orders_amount bigint not null,
  discounted_amount bigint not null,
  constraint promotion_tier_usage_pkey PRIMARY KEY (project_id, tier_id),
  constraint promotion_tier_usage_of_a_tier FOREIGN KEY (project_id, tier_id) REFERENCES promotion_tier(project_id, id) ON DELETE CASCADE
);

create table referral_tier (
  project_id text not null,
  id text not null,
  campaign_id text not null,
  name text not null,
  condition_type text not null,
  count bigint not null,
  segment_id text,
  reward jsonb not null,
  active boolean not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint referral_tier_pkey PRIMARY KEY (project_id, id),
  constraint referral_tier_condition_known CHECK (condition_type = ANY (ARRAY['EACH_UNIQUE_REFEREE'::text, 'MINIMUM_UNIQUE_REFEREES'::text])),
  constraint referral_tier_count_positive CHECK (count > 0),
  constraint referral_tier_project_id_campaign_id_fkey FOREIGN KEY (project_id, campaign_id) REFERENCES campaign(project_id, id) ON DELETE CASCADE
);

create table stored_request (
  project_id text not null,
  key text not null,
  request_hash bytea not null,
  seed text,
  response bytea,
  error bytea,
  created_at timestamp with time zone default now() not null
) partition by RANGE (created_at);

create table stored_request_default partition of stored_request (
  constraint stored_request_default_pkey PRIMARY KEY (project_id, key)
) DEFAULT;

CREATE INDEX bin_entry_project_parent ON bin_entry USING btree (project_id, resource_parent_id) WHERE resource_parent_id IS NOT NULL;

CREATE UNIQUE INDEX bin_entry_project_resource ON bin_entry USING btree (project_id, resource_id);

CREATE INDEX campaign_project_created_at ON campaign USING btree (project_id, created_at, id);

CREATE UNIQUE INDEX campaign_project_name ON campaign USING btree (project_id, name);

CREATE INDEX campaign_job_pending ON campaign_job USING btree (project_id, campaign_id, id) WHERE status = 'PENDING'::text;

CREATE UNIQUE INDEX category_project_name ON category USING btree (project_id, name);

CREATE INDEX outbox_default_seq ON outbox_default USING btree (seq);

CREATE INDEX promotion_stack_project_campaign ON promotion_stack USING btree (project_id, campaign_id, id);

CREATE INDEX promotion_stack_project_created_at ON promotion_stack USING btree (project_id, created_at, id);

CREATE INDEX promotion_tier_project_campaign ON promotion_tier USING btree (project_id, campaign_id, hierarchy);

CREATE INDEX promotion_tier_project_created_at ON promotion_tier USING btree (project_id, created_at, id);

CREATE INDEX referral_tier_project_campaign ON referral_tier USING btree (project_id, campaign_id, id);
