-- Made from the migrations by services/shared/testing/src/golden-schemas.ts; do not edit.

create sequence outbox_seq;

create table campaign_customer (
  project_id text not null,
  campaign_id text not null,
  customer_id text not null,
  constraint campaign_customer_pkey PRIMARY KEY (project_id, campaign_id, customer_id)
);

create table explanation_removal (
  project_id text not null,
  removed_to text not null,
  constraint explanation_removal_pkey PRIMARY KEY (project_id)
);

create table idempotency (
  project_id text not null,
  key text not null,
  request_hash bytea not null,
  outcome bytea not null,
  created_at timestamp with time zone default now() not null,
  kind text default 'redemption'::text not null
) partition by RANGE (created_at);

create table idempotency_default partition of idempotency (
  constraint idempotency_default_pkey PRIMARY KEY (project_id, key)
) DEFAULT;

create table imported_usage (
  project_id text not null,
  voucher_id text not null,
  redeemed_quantity bigint not null,
  redeemed_amount bigint not null,
  constraint imported_usage_pkey PRIMARY KEY (project_id, voucher_id),
  constraint imported_usage_not_negative CHECK (redeemed_quantity >= 0 AND redeemed_amount >= 0)
);

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

create table points_claim (
  project_id text not null,
  spend_id text not null,
  redemption_id text,
  created_at timestamp with time zone default now() not null,
  constraint points_claim_pkey PRIMARY KEY (project_id, spend_id)
);

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

create table promotion_campaign (
  project_id text not null,
  campaign_id text not null,
  name text not null,
  deleted boolean default false not null,
  constraint promotion_campaign_pkey PRIMARY KEY (project_id, campaign_id)
);

create table publication (
  project_id text not null,
  id text not null,
  created_at timestamp with time zone not null,
  customer_id text not null,
  tracking_id text,
  metadata jsonb not null,
  channel text not null,
  source_id text,
  result text not null,
  campaign_id text,
  campaign_name text,
  voucher_type text not null,
  is_referral_code boolean not null,
  voucher_code text,
  failure_code text,
  failure_message text,
  request_id text not null,
  constraint publication_pkey PRIMARY KEY (project_id, id),
  constraint publication_failure_has_a_code CHECK ((failure_code IS NOT NULL) = (result = 'FAILURE'::text)),
  constraint publication_result_known CHECK (result = ANY (ARRAY['SUCCESS'::text, 'FAILURE'::text]))
);

create table publication_voucher (
  project_id text not null,
  publication_id text not null,
  position integer not null,
  voucher_id text not null,
  constraint publication_voucher_pkey PRIMARY KEY (project_id, publication_id, "position")
);

create table redeemable_holder (
  project_id text not null,
  id text not null,
  voucher_id text not null,
  customer_id text not null,
  role text not null,
  campaign_id text,
  campaign_type text,
  voucher_type text not null,
  metadata jsonb not null,
  publication_id text,
  created_at timestamp with time zone not null,
  constraint redeemable_holder_pkey PRIMARY KEY (project_id, id),
  constraint redeemable_holder_role_known CHECK (role = ANY (ARRAY['OWNER'::text, 'REFERRER'::text, 'REFEREE'::text]))
);

create table redemption (
  project_id text not null,
  id text not null,
  voucher_id text,
  created_at timestamp with time zone not null,
  status text not null,
  amount bigint,
  customer_id text,
  tracking_id text,
  metadata jsonb,
  channel_id text not null,
  channel_type text not null,
  order_message bytea,
  customer_message bytea,
  redeemed_quantity_after bigint,
  amount_after bigint,
  redeemed_amount_after bigint,
  failure_code text,
  failure_message text,
  request_id text not null,
  parent_id text,
  promotion_tier_id text,
  campaign_id text,
  session_key text,
  order_amount bigint,
  discounted_amount bigint,
  units jsonb,
  promotion_tier_message bytea,
  explanation bytea,
  points jsonb,
  scope bytea,
  constraint redemption_pkey PRIMARY KEY (project_id, id),
  constraint redemption_failure_has_a_code CHECK ((failure_code IS NOT NULL) = (status = 'FAILED'::text)),
  constraint redemption_of_one_thing CHECK (voucher_id IS NULL OR promotion_tier_id IS NULL),
  constraint redemption_status_known CHECK (status = ANY (ARRAY['SUCCEEDED'::text, 'FAILED'::text, 'ROLLED_BACK'::text])),
  constraint redemption_takes_no_negative_amount CHECK (amount >= 0)
);

create table redemption_rollback (
  project_id text not null,
  id text not null,
  redemption_id text not null,
  parent_id text,
  voucher_id text,
  promotion_tier_id text,
  campaign_id text,
  created_at timestamp with time zone not null,
  status text not null,
  amount bigint,
  reason text,
  order_mode text not null,
  customer_id text,
  tracking_id text,
  metadata jsonb,
  channel_id text not null,
  channel_type text not null,
  order_message bytea,
  redeemed_quantity_after bigint,
  amount_after bigint,
  redeemed_amount_after bigint,
  failure_code text,
  failure_message text,
  request_id text not null,
  points jsonb,
  constraint redemption_rollback_pkey PRIMARY KEY (project_id, id),
  constraint redemption_rollback_failure_has_a_code CHECK ((failure_code IS NOT NULL) = (status = 'FAILED'::text)),
  constraint redemption_rollback_gives_no_negative_amount CHECK (amount >= 0),
  constraint redemption_rollback_status_known CHECK (status = ANY (ARRAY['SUCCEEDED'::text, 'FAILED'::text]))
);

create table redemption_total (
  project_id text not null,
  scope_id text not null,
  redemptions bigint default 0 not null,
  orders_amount bigint default 0 not null,
  discounted_amount bigint default 0 not null,
  gift_credits bigint default 0 not null,
  constraint redemption_total_pkey PRIMARY KEY (project_id, scope_id),
  constraint redemption_total_not_negative CHECK (redemptions >= 0 AND orders_amount >= 0 AND discounted_amount >= 0 AND gift_credits >= 0)
) with (autovacuum_analyze_scale_factor=0.02, autovacuum_vacuum_scale_factor=0.02, fillfactor=50);

create table redemption_units (
  project_id text not null,
  scope_id text not null,
  product_id text not null,
  quantity bigint not null,
  constraint redemption_units_pkey PRIMARY KEY (project_id, scope_id, product_id),
  constraint redemption_units_not_negative CHECK (quantity >= 0)
) with (fillfactor=50);

create table referral_conversion (
  project_id text not null,
  id text not null,
  voucher_id text not null,
  referee_id text not null,
  referrer_id text not null,
  campaign_id text not null,
  cause_type text not null,
  cause_id text not null,
  converted_at timestamp with time zone not null,
  constraint referral_conversion_pkey PRIMARY KEY (project_id, id),
  constraint referral_conversion_by_another CHECK (referee_id <> referrer_id),
  constraint referral_conversion_cause_known CHECK (cause_type = ANY (ARRAY['redemption'::text, 'order'::text, 'event'::text]))
);

create table referral_reward (
  project_id text not null,
  id text not null,
  reward_key text not null,
  referral_campaign_id text not null,
  tier_id text,
  segment_id text,
  referrer_id text not null,
  referee_id text not null,
  customer_id text not null,
  campaign_id text not null,
  voucher_type text not null,
  amount bigint not null,
  status text default 'PENDING'::text not null,
  attempts integer default 0 not null,
  next_attempt_at timestamp with time zone,
  reason text,
  created_at timestamp with time zone not null,
  paid_at timestamp with time zone,
  paid_voucher_id text,
  ledger_version bigint,
  origin jsonb,
  constraint referral_reward_pkey PRIMARY KEY (project_id, id),
  constraint referral_reward_paid_to_a_voucher CHECK ((paid_voucher_id IS NOT NULL AND paid_at IS NOT NULL) = (status = 'PAID'::text)),
  constraint referral_reward_positive CHECK (amount > 0),
  constraint referral_reward_status_known CHECK (status = ANY (ARRAY['PENDING'::text, 'PAID'::text, 'CANCELED'::text, 'FAILED'::text])),
  constraint referral_reward_tried_while_pending CHECK ((next_attempt_at IS NOT NULL) = (status = 'PENDING'::text))
);

create table reservation (
  project_id text not null,
  session_key text not null,
  voucher_id text not null,
  credits bigint not null,
  expires_at timestamp with time zone not null,
  kept_until timestamp with time zone not null,
  constraint reservation_pkey PRIMARY KEY (project_id, session_key, voucher_id),
  constraint reservation_holds_no_negative_credits CHECK (credits >= 0)
);

create table reward_redemption (
  project_id text not null,
  redemption_id text not null,
  type text not null,
  customer_id text not null,
  quantity bigint not null,
  campaign_id text,
  amount bigint,
  status text default 'PENDING'::text not null,
  attempts integer default 0 not null,
  next_attempt_at timestamp with time zone,
  reason text,
  created_at timestamp with time zone not null,
  recorded_at timestamp with time zone default now() not null,
  completed_at timestamp with time zone,
  shown_as_given boolean,
  voucher_id text,
  ledger_version bigint,
  origin jsonb,
  constraint reward_redemption_pkey PRIMARY KEY (project_id, redemption_id),
  constraint reward_redemption_completed CHECK (completed_at IS NOT NULL OR status <> 'COMPLETED'::text),
  constraint reward_redemption_of_a_campaign CHECK ((campaign_id IS NOT NULL) = (type = 'CAMPAIGN'::text)),
  constraint reward_redemption_positive CHECK (quantity > 0 AND amount > 0),
  constraint reward_redemption_status_known CHECK (status = ANY (ARRAY['PENDING'::text, 'COMPLETED'::text, 'ROLLED_BACK'::text, 'FAILED'::text])),
  constraint reward_redemption_type_known CHECK (type = ANY (ARRAY['CAMPAIGN'::text, 'MATERIAL'::text]))
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

create table voucher (
  project_id text not null,
  id text not null,
  code text not null,
  code_key text,
  type text not null,
  campaign_id text,
  category_id text,
  discount jsonb,
  gift_effect text,
  loyalty_points bigint,
  start_date timestamp with time zone,
  expiration_date timestamp with time zone,
  validity_timeframe jsonb,
  validity_day_of_week smallint[],
  validity_hours jsonb,
  active boolean,
  additional_info text,
  metadata jsonb not null,
  asset_id text not null,
  is_referral_code boolean not null,
  holder_id text,
  referrer_id text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  deleted_at timestamp with time zone,
  definition_version bigint not null,
  campaign_name text,
  campaign_type text,
  activity_duration text,
  publish_count bigint default 0 not null,
  publication_metadata jsonb,
  constraint voucher_pkey PRIMARY KEY (project_id, id),
  constraint voucher_discount_only_on_discount_vouchers CHECK ((discount IS NOT NULL) = (type = 'DISCOUNT_VOUCHER'::text)),
  constraint voucher_ends_after_its_start CHECK (expiration_date >= start_date),
  constraint voucher_gift_effect_only_on_gifts CHECK ((gift_effect IS NOT NULL) = (type = 'GIFT_VOUCHER'::text)),
  constraint voucher_points_only_on_cards CHECK ((loyalty_points IS NOT NULL) = (type = 'LOYALTY_CARD'::text)),
  constraint voucher_type_known CHECK (type = ANY (ARRAY['DISCOUNT_VOUCHER'::text, 'GIFT_VOUCHER'::text, 'LOYALTY_CARD'::text]))
) with (fillfactor=50);

create table voucher_campaign (
  project_id text not null,
  campaign_id text not null,
  name text not null,
  type text not null,
  join_once boolean not null,
  template bytea,
  deleted_at timestamp with time zone,
  active boolean default true not null,
  referral_terms bytea,
  referral_tiers bytea,
  converts_orders boolean default false not null,
  constraint voucher_campaign_pkey PRIMARY KEY (project_id, campaign_id)
);

create table voucher_ledger_entry (
  project_id text not null,
  voucher_id text not null,
  version bigint not null,
  amount bigint not null,
  balance_after bigint not null,
  redemption_id text,
  created_at timestamp with time zone not null,
  source text,
  source_id text,
  reason text,
  total_after bigint,
  campaign_id text,
  constraint voucher_ledger_entry_pkey PRIMARY KEY (project_id, voucher_id, version),
  constraint voucher_ledger_entry_counts_from_one CHECK (version >= 1),
  constraint voucher_ledger_entry_not_overdrawn CHECK (balance_after >= 0)
);

create table voucher_usage (
  project_id text not null,
  voucher_id text not null,
  definition_version bigint not null,
  deleted boolean default false not null,
  quantity bigint,
  redeemed_quantity bigint default 0 not null,
  amount bigint,
  balance bigint,
  redeemed_amount bigint default 0 not null,
  version bigint default 0 not null,
  ledger_version bigint default 0 not null,
  reserved boolean default false not null,
  constraint voucher_usage_pkey PRIMARY KEY (project_id, voucher_id),
  constraint voucher_balance_adds_up CHECK (balance = (amount - redeemed_amount)),
  constraint voucher_balance_with_amount CHECK ((balance IS NULL) = (amount IS NULL)),
  constraint voucher_not_overdrawn CHECK (balance >= 0),
  constraint voucher_not_overused CHECK (redeemed_quantity >= 0 AND (quantity IS NULL OR redeemed_quantity <= quantity))
) with (autovacuum_analyze_scale_factor=0.02, autovacuum_vacuum_scale_factor=0.02, fillfactor=50);

CREATE INDEX outbox_default_seq ON outbox_default USING btree (seq);

CREATE INDEX points_claim_given_up ON points_claim USING btree (created_at) WHERE redemption_id IS NULL;

CREATE UNIQUE INDEX publication_once_per_source ON publication USING btree (project_id, source_id) WHERE source_id IS NOT NULL AND result = 'SUCCESS'::text;

CREATE INDEX publication_project_campaign ON publication USING btree (project_id, campaign_id, created_at) WHERE campaign_id IS NOT NULL;

CREATE INDEX publication_project_created_at ON publication USING btree (project_id, created_at, id);

CREATE INDEX publication_project_customer ON publication USING btree (project_id, customer_id, created_at);

CREATE INDEX publication_voucher_project_voucher ON publication_voucher USING btree (project_id, voucher_id, publication_id);

CREATE UNIQUE INDEX redeemable_holder_customer_once ON redeemable_holder USING btree (project_id, voucher_id, customer_id);

CREATE UNIQUE INDEX redeemable_holder_once ON redeemable_holder USING btree (project_id, voucher_id) WHERE role <> 'REFEREE'::text;

CREATE INDEX redeemable_holder_project_customer ON redeemable_holder USING btree (project_id, customer_id, id);

CREATE INDEX redemption_campaign ON redemption USING btree ((md5((project_id || ' '::text) || campaign_id)::uuid), status, created_at) WHERE campaign_id IS NOT NULL;

CREATE INDEX redemption_campaign_customer ON redemption USING btree ((md5((((project_id || ' '::text) || campaign_id) || ' '::text) || customer_id)::uuid), created_at) WHERE campaign_id IS NOT NULL AND customer_id IS NOT NULL AND status = 'SUCCEEDED'::text;

CREATE INDEX redemption_created_at ON redemption USING btree (project_id, created_at);

CREATE INDEX redemption_customer_created_at ON redemption USING btree ((md5((project_id || ' '::text) || customer_id)::uuid), created_at) WHERE customer_id IS NOT NULL;

CREATE INDEX redemption_project_parent ON redemption USING btree (project_id, parent_id) WHERE parent_id IS NOT NULL;

CREATE INDEX redemption_tier ON redemption USING btree ((md5((project_id || ' '::text) || promotion_tier_id)::uuid), status, created_at) WHERE promotion_tier_id IS NOT NULL;

CREATE INDEX redemption_tier_customer ON redemption USING btree ((md5((((project_id || ' '::text) || promotion_tier_id) || ' '::text) || customer_id)::uuid), created_at) WHERE promotion_tier_id IS NOT NULL AND customer_id IS NOT NULL AND status = 'SUCCEEDED'::text;

CREATE INDEX redemption_voucher_customer ON redemption USING btree ((md5((((project_id || ' '::text) || voucher_id) || ' '::text) || customer_id)::uuid), created_at) WHERE voucher_id IS NOT NULL AND customer_id IS NOT NULL AND status = 'SUCCEEDED'::text;

CREATE INDEX redemption_voucher_others ON redemption USING btree ((md5((project_id || ' '::text) || voucher_id)::uuid), created_at) WHERE voucher_id IS NOT NULL AND status <> 'SUCCEEDED'::text;

CREATE INDEX redemption_voucher_succeeded ON redemption USING btree ((md5((project_id || ' '::text) || voucher_id)::uuid), created_at) WHERE voucher_id IS NOT NULL AND status = 'SUCCEEDED'::text;

CREATE INDEX redemption_rollback_campaign ON redemption_rollback USING btree ((md5((project_id || ' '::text) || campaign_id)::uuid), status, created_at) WHERE campaign_id IS NOT NULL;

CREATE UNIQUE INDEX redemption_rollback_once ON redemption_rollback USING btree (project_id, redemption_id) WHERE status = 'SUCCEEDED'::text;

CREATE INDEX redemption_rollback_project_created_at ON redemption_rollback USING btree (project_id, created_at, id);

CREATE INDEX redemption_rollback_project_redemption ON redemption_rollback USING btree (project_id, redemption_id, created_at);

CREATE UNIQUE INDEX referral_conversion_once ON referral_conversion USING btree (project_id, voucher_id, referee_id);

CREATE INDEX referral_conversion_project_campaign ON referral_conversion USING btree (project_id, campaign_id, referee_id);

CREATE INDEX referral_conversion_project_referee ON referral_conversion USING btree (project_id, referee_id);

CREATE INDEX referral_conversion_project_referrer ON referral_conversion USING btree (project_id, referrer_id, campaign_id, referee_id);

CREATE INDEX referral_reward_due ON referral_reward USING btree (next_attempt_at) WHERE status = 'PENDING'::text;

CREATE UNIQUE INDEX referral_reward_once ON referral_reward USING btree (project_id, reward_key);

CREATE INDEX referral_reward_project_customer ON referral_reward USING btree (project_id, customer_id);

CREATE INDEX reservation_kept_until ON reservation USING btree (kept_until);

CREATE INDEX reservation_project_voucher ON reservation USING btree (project_id, voucher_id);

CREATE INDEX reward_redemption_due ON reward_redemption USING btree (next_attempt_at) WHERE next_attempt_at IS NOT NULL;

CREATE INDEX voucher_project_campaign ON voucher USING btree (project_id, campaign_id, id) WHERE campaign_id IS NOT NULL;

CREATE INDEX voucher_project_campaign_created_at ON voucher USING btree (project_id, campaign_id DESC, created_at, id) WHERE campaign_id IS NOT NULL AND deleted_at IS NULL;

CREATE INDEX voucher_project_campaign_name ON voucher USING btree (project_id, campaign_name, id) WHERE campaign_name IS NOT NULL;

CREATE INDEX voucher_project_campaign_unpublished ON voucher USING btree (project_id, campaign_id, created_at, id) WHERE campaign_id IS NOT NULL AND publish_count = 0 AND deleted_at IS NULL;

CREATE UNIQUE INDEX voucher_project_code_key ON voucher USING btree (project_id, code_key);

CREATE INDEX voucher_project_created_at ON voucher USING btree (project_id, created_at, id) WHERE deleted_at IS NULL;

CREATE INDEX voucher_project_holder_created_at ON voucher USING btree (project_id, holder_id, created_at, id) WHERE holder_id IS NOT NULL AND deleted_at IS NULL;

CREATE INDEX voucher_project_standalone ON voucher USING btree (project_id, created_at, id) WHERE campaign_id IS NULL AND holder_id IS NULL AND deleted_at IS NULL;

CREATE INDEX voucher_campaign_project_converts_orders ON voucher_campaign USING btree (project_id, campaign_id) WHERE converts_orders;

CREATE INDEX voucher_campaign_project_name ON voucher_campaign USING btree (project_id, name, campaign_id);

CREATE INDEX voucher_ledger_entry_campaign_created_at ON voucher_ledger_entry USING btree (project_id, campaign_id, created_at, voucher_id, version) WHERE campaign_id IS NOT NULL;

create view redemption_of_project as
 SELECT project_id,
    id,
    parent_id,
    voucher_id,
    promotion_tier_id,
    campaign_id,
    customer_id,
    created_at,
    status,
    amount,
    tracking_id,
    metadata,
    channel_id,
    channel_type,
    failure_code,
    failure_message
   FROM redemption
  WHERE project_id = current_setting('scrip.project'::text, true);

create view redemption_rollback_of_project as
 SELECT project_id,
    id,
    redemption_id,
    voucher_id,
    promotion_tier_id,
    campaign_id,
    customer_id,
    created_at,
    status,
    amount,
    tracking_id,
    metadata,
    channel_id,
    channel_type,
    failure_code,
    failure_message,
    reason
   FROM redemption_rollback
  WHERE project_id = current_setting('scrip.project'::text, true);

CREATE OR REPLACE FUNCTION voucher.set_campaign_of_ledger_entry()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  select v.campaign_id
    into new.campaign_id
    from voucher v
   where v.project_id = new.project_id and v.id between new.voucher_id and new.voucher_id
   order by v.id
   limit 1;
  return new;
end $function$;

CREATE TRIGGER voucher_ledger_entry_campaign BEFORE INSERT ON voucher_ledger_entry FOR EACH ROW WHEN (new.campaign_id IS NULL) EXECUTE FUNCTION set_campaign_of_ledger_entry();
