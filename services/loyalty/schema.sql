-- Made from the migrations by services/shared/testing/src/golden-schemas.ts; do not edit.

create sequence outbox_seq;

create table activity (
  project_id text not null,
  owner_id text not null,
  id text not null,
  type text not null,
  card_id text,
  group_id text not null,
  data jsonb not null,
  created_at timestamp with time zone not null,
  occurred_at timestamp with time zone not null
) partition by RANGE (occurred_at);

create table activity_default partition of activity (
  constraint activity_default_pkey PRIMARY KEY (project_id, owner_id, id)
) DEFAULT;

create table auto_redeem_night (
  project_id text not null,
  date date not null,
  redeemed boolean not null,
  constraint auto_redeem_night_pkey PRIMARY KEY (project_id)
);

create table auto_redemption (
  project_id text not null,
  customer_id text not null,
  date date not null,
  count bigint not null,
  constraint auto_redemption_pkey PRIMARY KEY (project_id, customer_id, date),
  constraint auto_redemption_bounded CHECK (count >= 1 AND count <= 10)
);

create table awaited_card (
  project_id text not null,
  customer_id text not null,
  campaign_id text not null,
  event_id text not null,
  topic text not null,
  type text not null,
  payload bytea not null,
  requested boolean not null,
  created_at timestamp with time zone default now() not null,
  origin jsonb,
  constraint awaited_card_pkey PRIMARY KEY (project_id, customer_id, campaign_id, event_id)
);

create table canceled_order (
  project_id text not null,
  order_id text not null,
  created_at timestamp with time zone default now() not null,
  constraint canceled_order_pkey PRIMARY KEY (project_id, order_id)
);

create table card_state (
  project_id text not null,
  card_id text not null,
  version bigint not null,
  active boolean not null,
  start_date timestamp with time zone,
  expiration_date timestamp with time zone,
  constraint card_state_pkey PRIMARY KEY (project_id, card_id)
);

create table changed_customer (
  project_id text not null,
  id bigint generated always as identity not null,
  customer_id text not null,
  constraint changed_customer_pkey PRIMARY KEY (project_id, id)
);

create table custom_event (
  project_id text not null,
  id text not null,
  customer_id text not null,
  name text not null,
  schema_id text,
  metadata jsonb not null,
  loyalty_card_id text,
  referral_code text,
  created_at timestamp with time zone not null,
  constraint custom_event_pkey PRIMARY KEY (project_id, id)
);

create table custom_event_schema (
  project_id text not null,
  id text not null,
  name text not null,
  properties jsonb not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint custom_event_schema_pkey PRIMARY KEY (project_id, id)
);

create table customer (
  project_id text not null,
  id text not null,
  source_id text,
  name text,
  email text,
  phone text,
  country text,
  description text,
  metadata jsonb default '{}'::jsonb not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  birthdate date,
  city text,
  state text,
  line_1 text,
  line_2 text,
  postal_code text,
  constraint customer_pkey PRIMARY KEY (project_id, id),
  constraint customer_source_id_length CHECK (length(source_id) >= 1 AND length(source_id) <= 255)
) with (fillfactor=85);

create table customer_activity (
  occurred_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  project_id text not null,
  owner_id bytea not null,
  id bytea not null,
  group_id bytea not null,
  type text not null,
  card_id text,
  campaign_id text,
  campaign_type text,
  reward_id text,
  product_ids text[],
  data bytea not null
) partition by RANGE (occurred_at);

create table customer_activity_default partition of customer_activity (
  constraint customer_activity_default_pkey PRIMARY KEY (project_id, owner_id, id)
) DEFAULT;

create table customer_order (
  project_id text not null,
  order_id text not null,
  customer_id text not null,
  amount bigint not null,
  changed_at timestamp with time zone not null,
  paid boolean default true not null,
  previous_customer_id text,
  constraint customer_order_pkey PRIMARY KEY (project_id, order_id),
  constraint customer_order_amount_not_negative CHECK (amount >= 0)
);

create table customer_redemptions (
  project_id text not null,
  customer_id text not null,
  succeeded bigint default 0 not null,
  gift_amount bigint default 0 not null,
  failed bigint default 0 not null,
  rolled_back bigint default 0 not null,
  rollbacks_refused bigint default 0 not null,
  constraint customer_redemptions_pkey PRIMARY KEY (project_id, customer_id),
  constraint customer_redemptions_not_negative CHECK (succeeded >= 0 AND failed >= 0 AND rolled_back >= 0 AND rollbacks_refused >= 0)
) with (fillfactor=80);

create table definition_version (
  project_id text not null,
  version bigint not null,
  constraint definition_version_pkey PRIMARY KEY (project_id)
);

create table deleted_segment (
  project_id text not null,
  id text not null,
  constraint deleted_segment_pkey PRIMARY KEY (project_id, id)
);

create table earning_rule (
  project_id text not null,
  id text not null,
  campaign_id text not null,
  event text not null,
  schema_id text,
  segment_id text,
  tier_id text,
  validation_rule_id text,
  definition jsonb not null,
  active boolean not null,
  metadata jsonb not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint earning_rule_pkey PRIMARY KEY (project_id, id)
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

create table ledger_entry (
  project_id text not null,
  card_id text not null,
  version bigint not null,
  id text not null,
  type text not null,
  points bigint not null,
  balance_after bigint not null,
  cause text not null,
  redemption_id text,
  rollback_id text,
  reward_id text,
  created_at timestamp with time zone not null,
  campaign_id text,
  lots jsonb,
  total_after bigint,
  source text,
  source_id text,
  reason text,
  related_id text,
  details jsonb,
  previous_hash bytea,
  hash bytea,
  constraint ledger_entry_pkey PRIMARY KEY (project_id, card_id, version),
  constraint ledger_entry_not_overdrawn CHECK (balance_after >= 0)
);

create table loyalty_card (
  project_id text not null,
  id text not null,
  points bigint not null,
  redeemed_points bigint default 0 not null,
  subtracted_points bigint default 0 not null,
  expired_points bigint default 0 not null,
  balance bigint not null,
  held_points bigint default 0 not null,
  ledger_version bigint default 0 not null,
  opened_at timestamp with time zone not null,
  campaign_id text,
  pending_points bigint default 0 not null,
  next_expires_on date,
  next_expiring_points bigint default 0 not null,
  ledger_hash bytea,
  chained_version bigint default 0 not null,
  constraint loyalty_card_pkey PRIMARY KEY (project_id, id),
  constraint loyalty_card_figures CHECK (balance = (points - redeemed_points - subtracted_points - expired_points)),
  constraint loyalty_card_next_expiration CHECK ((next_expires_on IS NULL) = (next_expiring_points = 0) AND next_expiring_points >= 0 AND next_expiring_points <= balance),
  constraint loyalty_card_not_negative CHECK (points >= 0 AND redeemed_points >= 0 AND subtracted_points >= 0 AND expired_points >= 0),
  constraint loyalty_card_not_overdrawn CHECK (balance >= 0 AND held_points >= 0 AND held_points <= balance),
  constraint loyalty_card_pending_not_negative CHECK (pending_points >= 0)
) with (fillfactor=50);

create table loyalty_member (
  project_id text not null,
  card_id text not null,
  campaign_id text,
  customer_id text not null,
  initial_points bigint not null,
  joined_at timestamp with time zone not null,
  constraint loyalty_member_pkey PRIMARY KEY (project_id, card_id)
);

create table loyalty_program (
  project_id text not null,
  id text not null,
  name text not null,
  active boolean not null,
  auto_join boolean not null,
  validity jsonb not null,
  expiration_rules jsonb,
  tiers_expiration jsonb,
  initial_points bigint not null,
  deleted boolean default false not null,
  constraint loyalty_program_pkey PRIMARY KEY (project_id, id)
);

create table loyalty_tier (
  project_id text not null,
  id text not null,
  campaign_id text not null,
  name text not null,
  points_from bigint not null,
  points_to bigint,
  earning_rules jsonb not null,
  rewards jsonb not null,
  metadata jsonb not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  deleted boolean default false not null,
  constraint loyalty_tier_pkey PRIMARY KEY (project_id, id),
  constraint loyalty_tier_range CHECK (points_from >= 0 AND (points_to IS NULL OR points_to >= points_from))
);

create table member_tier (
  project_id text not null,
  card_id text not null,
  campaign_id text not null,
  customer_id text not null,
  tier_id text,
  start_date date,
  expiration_date date,
  next_tier_id text,
  next_start date,
  period_start date,
  period_points bigint not null,
  balance bigint not null,
  ledger_version bigint not null,
  due_on date,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint member_tier_pkey PRIMARY KEY (project_id, card_id),
  constraint member_tier_dates CHECK ((tier_id IS NULL) = (start_date IS NULL) AND (tier_id IS NOT NULL OR expiration_date IS NULL)),
  constraint member_tier_not_negative CHECK (balance >= 0 AND period_points >= 0)
) with (fillfactor=80);

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

create table pending_points (
  project_id text not null,
  id text not null,
  card_id text not null,
  campaign_id text not null,
  customer_id text not null,
  order_id text,
  points bigint not null,
  status text default 'PENDING'::text not null,
  activates_on date not null,
  cause text not null,
  rule_id text not null,
  details jsonb not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  changes jsonb default '[]'::jsonb not null,
  constraint pending_points_pkey PRIMARY KEY (project_id, id),
  constraint pending_points_of_something CHECK (points > 0),
  constraint pending_points_status CHECK (status = ANY (ARRAY['PENDING'::text, 'ACTIVATED'::text, 'CANCELED'::text]))
);

create table points_lock (
  project_id text not null,
  card_id text not null,
  session_key text not null,
  points bigint not null,
  locked_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  kept_until timestamp with time zone not null,
  constraint points_lock_pkey PRIMARY KEY (project_id, card_id, session_key),
  constraint points_lock_of_something CHECK (points > 0)
);

create table points_lot (
  project_id text not null,
  card_id text not null,
  id text not null,
  expires_on date not null,
  points bigint not null,
  expired boolean default false not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint points_lot_pkey PRIMARY KEY (project_id, card_id, id),
  constraint points_lot_not_overdrawn CHECK (points >= 0)
);

create table points_spend (
  project_id text not null,
  id text not null,
  card_id text not null,
  points bigint not null,
  status text not null,
  request_key text,
  reward_id text not null,
  takes_stock boolean not null,
  redemption_id text,
  session_key text,
  locked_points bigint,
  locked_until timestamp with time zone,
  at timestamp with time zone not null,
  created_at timestamp with time zone default now() not null,
  quantity bigint default 1 not null,
  automatic boolean default false not null,
  constraint points_spend_pkey PRIMARY KEY (project_id, id),
  constraint points_spend_of_something CHECK (points > 0),
  constraint points_spend_status CHECK (status = ANY (ARRAY['PENDING'::text, 'CONFIRMED'::text, 'RETURNED'::text])),
  constraint points_spend_taken CHECK ((status = 'CONFIRMED'::text) = (redemption_id IS NOT NULL))
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

create table referral (
  project_id text not null,
  voucher_id text not null,
  referee_id text not null,
  referrer_id text not null,
  campaign_id text not null,
  redemption_id text not null,
  redeemed_at timestamp with time zone not null,
  related_object_type text default 'redemption'::text not null,
  constraint referral_pkey PRIMARY KEY (project_id, voucher_id, referee_id)
);

create table reward (
  project_id text not null,
  id text not null,
  name text,
  type text not null,
  parameters jsonb not null,
  stock bigint,
  redeemed bigint default 0 not null,
  attributes jsonb not null,
  metadata jsonb not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint reward_pkey PRIMARY KEY (project_id, id),
  constraint reward_not_given_back_twice CHECK (redeemed >= 0),
  constraint reward_type CHECK (type = ANY (ARRAY['CAMPAIGN'::text, 'MATERIAL'::text, 'COIN'::text]))
);

create table reward_assignment (
  project_id text not null,
  id text not null,
  reward_id text not null,
  campaign_id text not null,
  points bigint,
  auto_redeem boolean,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint reward_assignment_pkey PRIMARY KEY (project_id, id),
  constraint reward_assignment_of_reward FOREIGN KEY (project_id, reward_id) REFERENCES reward(project_id, id),
  constraint reward_assignment_price CHECK (points > 0)
);

create table segment (
  project_id text not null,
  id text not null,
  name text not null,
  type text not null,
  filter jsonb,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  sync_status text,
  sync_after text,
  constraint segment_pkey PRIMARY KEY (project_id, id),
  constraint segment_filter_of_dynamic CHECK ((type = 'static'::text) = (filter IS NULL)),
  constraint segment_type CHECK (type = ANY (ARRAY['static'::text, 'auto-update'::text, 'passive'::text]))
);

create table segment_customer (
  project_id text not null,
  segment_id text not null,
  customer_id text not null,
  constraint segment_customer_pkey PRIMARY KEY (project_id, segment_id, customer_id),
  constraint segment_customer_of_customer FOREIGN KEY (project_id, customer_id) REFERENCES customer(project_id, id) ON DELETE CASCADE,
  constraint segment_customer_of_segment FOREIGN KEY (project_id, segment_id) REFERENCES segment(project_id, id) ON DELETE CASCADE
);

create table segment_member (
  project_id text not null,
  segment_id text not null,
  customer_id text not null,
  constraint segment_member_pkey PRIMARY KEY (project_id, segment_id, customer_id),
  constraint segment_member_of_customer FOREIGN KEY (project_id, customer_id) REFERENCES customer(project_id, id) ON DELETE CASCADE
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

create table validation_rule (
  project_id text not null,
  id text not null,
  rules jsonb,
  changed_at timestamp with time zone not null,
  constraint validation_rule_pkey PRIMARY KEY (project_id, id)
);

CREATE INDEX awaited_card_created_at ON awaited_card USING btree (created_at);

CREATE INDEX canceled_order_created_at ON canceled_order USING btree (created_at);

CREATE INDEX custom_event_of_customer ON custom_event USING btree (project_id, customer_id, name);

CREATE UNIQUE INDEX custom_event_schema_name ON custom_event_schema USING btree (project_id, name);

CREATE INDEX customer_project_city ON customer USING btree (project_id, city) WHERE city IS NOT NULL;

CREATE INDEX customer_project_created_at ON customer USING btree (project_id, created_at, id);

CREATE INDEX customer_project_email ON customer USING btree (project_id, email) WHERE email IS NOT NULL;

CREATE INDEX customer_project_name ON customer USING btree (project_id, name) WHERE name IS NOT NULL;

CREATE UNIQUE INDEX customer_project_source_id ON customer USING btree (project_id, source_id);

CREATE INDEX customer_order_of_customer ON customer_order USING btree (project_id, customer_id);

CREATE INDEX earning_rule_project_campaign ON earning_rule USING btree (project_id, campaign_id, created_at, id);

CREATE UNIQUE INDEX ledger_entry_once_per_cause ON ledger_entry USING btree (project_id, card_id, cause);

CREATE INDEX ledger_entry_project_campaign_id ON ledger_entry USING btree (project_id, campaign_id, id) WHERE campaign_id IS NOT NULL;

CREATE INDEX ledger_entry_project_card_id ON ledger_entry USING btree (project_id, card_id, id);

CREATE INDEX loyalty_card_next_expiration ON loyalty_card USING btree (project_id, next_expires_on) WHERE next_expires_on IS NOT NULL;

CREATE INDEX loyalty_member_project_campaign ON loyalty_member USING btree (project_id, campaign_id, card_id);

CREATE INDEX loyalty_member_project_customer ON loyalty_member USING btree (project_id, customer_id);

CREATE INDEX loyalty_tier_project_campaign ON loyalty_tier USING btree (project_id, campaign_id, created_at, id);

CREATE INDEX member_tier_due ON member_tier USING btree (project_id, due_on) WHERE due_on IS NOT NULL;

CREATE INDEX outbox_default_seq ON outbox_default USING btree (seq);

CREATE INDEX pending_points_due ON pending_points USING btree (project_id, activates_on) WHERE status = 'PENDING'::text;

CREATE INDEX pending_points_of_campaign ON pending_points USING btree (project_id, campaign_id, id) WHERE status = 'PENDING'::text;

CREATE INDEX pending_points_of_card ON pending_points USING btree (project_id, card_id, id) WHERE status = 'PENDING'::text;

CREATE INDEX pending_points_of_order ON pending_points USING btree (project_id, order_id) WHERE status = 'PENDING'::text;

CREATE UNIQUE INDEX pending_points_once_per_cause ON pending_points USING btree (project_id, card_id, cause);

CREATE INDEX pending_points_project_campaign ON pending_points USING btree (project_id, campaign_id, id);

CREATE INDEX points_lock_kept_until ON points_lock USING btree (kept_until);

CREATE INDEX points_lock_project_session ON points_lock USING btree (project_id, session_key);

CREATE UNIQUE INDEX points_lot_active ON points_lot USING btree (project_id, card_id, expires_on) WHERE NOT expired;

CREATE INDEX points_spend_pending ON points_spend USING btree (created_at) WHERE status = 'PENDING'::text;

CREATE INDEX points_spend_pending_card ON points_spend USING btree (project_id, card_id) WHERE status = 'PENDING'::text;

CREATE INDEX referral_project_referee ON referral USING btree (project_id, referee_id, redeemed_at);

CREATE INDEX referral_project_referrer ON referral USING btree (project_id, referrer_id, campaign_id, referee_id);

CREATE INDEX reward_project_created_at ON reward USING btree (project_id, created_at, id);

CREATE UNIQUE INDEX reward_assignment_once ON reward_assignment USING btree (project_id, campaign_id, reward_id);

CREATE UNIQUE INDEX reward_assignment_one_auto_redeem ON reward_assignment USING btree (project_id, campaign_id) WHERE auto_redeem;

CREATE INDEX reward_assignment_project_campaign ON reward_assignment USING btree (project_id, campaign_id, created_at, id);

CREATE INDEX reward_assignment_project_reward ON reward_assignment USING btree (project_id, reward_id, created_at);

CREATE INDEX segment_followed ON segment USING btree (project_id) WHERE sync_status IS NOT NULL;

CREATE INDEX segment_project_created_at ON segment USING btree (project_id, created_at, id);

CREATE INDEX segment_syncing ON segment USING btree (project_id, id) WHERE sync_status = 'IN_PROGRESS'::text;

CREATE INDEX segment_customer_project_customer ON segment_customer USING btree (project_id, customer_id) INCLUDE (segment_id);

CREATE INDEX segment_member_project_customer ON segment_member USING btree (project_id, customer_id) INCLUDE (segment_id);

CREATE OR REPLACE FUNCTION loyalty.reject_ledger_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' and old.hash is null and new.hash is not null then
    declare
      unchained ledger_entry := new;
    begin
      unchained.hash := null;
      unchained.previous_hash := null;
      if unchained is not distinct from old then
        return new;
      end if;
    end;
  end if;
  raise exception 'ledger entries are append-only' using errcode = 'restrict_violation';
end
$function$;

CREATE TRIGGER ledger_entry_append_only BEFORE DELETE OR UPDATE ON ledger_entry FOR EACH ROW EXECUTE FUNCTION reject_ledger_change();

CREATE TRIGGER ledger_entry_not_truncated BEFORE TRUNCATE ON ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION reject_ledger_change();
