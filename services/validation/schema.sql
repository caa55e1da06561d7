-- Made from the migrations by services/shared/testing/src/golden-schemas.ts; do not edit.

create sequence outbox_seq;

create table binned_entry (
  project_id text not null,
  id text not null,
  kind text not null,
  source_id text,
  product_id text,
  constraint binned_entry_pkey PRIMARY KEY (project_id, id),
  constraint binned_entry_kind_known CHECK (kind = ANY (ARRAY['product'::text, 'sku'::text]))
);

create table definition_version (
  project_id text not null,
  version bigint not null,
  constraint definition_version_pkey PRIMARY KEY (project_id)
);

create table gone_customer (
  project_id text not null,
  customer_id text not null,
  gone_at timestamp with time zone default now() not null,
  constraint gone_customer_pkey PRIMARY KEY (project_id, customer_id)
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

create table product (
  project_id text not null,
  id text not null,
  source_id text,
  name text,
  price bigint,
  attributes text[] default '{}'::text[] not null,
  image_url text,
  metadata jsonb default '{}'::jsonb not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint product_pkey PRIMARY KEY (project_id, id),
  constraint product_price_not_negative CHECK (price >= 0),
  constraint product_source_id_length CHECK (length(source_id) >= 1 AND length(source_id) <= 255)
);

create table product_collection (
  project_id text not null,
  id text not null,
  name text not null,
  type text not null,
  filter jsonb,
  created_at timestamp with time zone not null,
  constraint product_collection_pkey PRIMARY KEY (project_id, id),
  constraint product_collection_filter_of_dynamic CHECK ((type = 'AUTO_UPDATE'::text) = (filter IS NOT NULL)),
  constraint product_collection_type CHECK (type = ANY (ARRAY['STATIC'::text, 'AUTO_UPDATE'::text]))
);

create table product_collection_entry (
  project_id text not null,
  collection_id text not null,
  position bigint not null,
  product_id text,
  sku_id text,
  constraint product_collection_entry_pkey PRIMARY KEY (project_id, collection_id, "position"),
  constraint product_collection_entry_names_one CHECK ((product_id IS NULL) <> (sku_id IS NULL)),
  constraint product_collection_entry_project_id_collection_id_fkey FOREIGN KEY (project_id, collection_id) REFERENCES product_collection(project_id, id) ON DELETE CASCADE,
  constraint product_collection_entry_project_id_sku_id_fkey FOREIGN KEY (project_id, sku_id) REFERENCES sku(project_id, id) ON DELETE CASCADE,
  constraint product_in_collection FOREIGN KEY (project_id, product_id) REFERENCES product(project_id, id)
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

create table session_claim (
  project_id text not null,
  session_key text not null,
  voucher_id text not null,
  claimed_by text not null,
  claimed_until timestamp with time zone not null,
  claimed_process integer,
  constraint session_claim_pkey PRIMARY KEY (project_id, session_key, voucher_id)
);

create table shop_order (
  project_id text not null,
  id text not null,
  source_id text,
  status text,
  customer_id text,
  document bytea,
  claimed_by text,
  claimed_until timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  paid_event_id text,
  claimed_process integer,
  awaited_process integer,
  awaited_until timestamp with time zone,
  constraint shop_order_pkey PRIMARY KEY (project_id, id),
  constraint shop_order_known_status CHECK (status = ANY (ARRAY['CREATED'::text, 'PAID'::text, 'CANCELED'::text, 'FULFILLED'::text])),
  constraint shop_order_source_id_length CHECK (length(source_id) >= 1 AND length(source_id) <= 255)
);

create table sku (
  project_id text not null,
  id text not null,
  source_id text,
  product_id text not null,
  sku text,
  price bigint,
  currency text,
  attributes jsonb default '{}'::jsonb not null,
  image_url text,
  metadata jsonb default '{}'::jsonb not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint sku_pkey PRIMARY KEY (project_id, id),
  constraint sku_price_not_negative CHECK (price >= 0),
  constraint sku_project_id_product_id_fkey FOREIGN KEY (project_id, product_id) REFERENCES product(project_id, id) ON DELETE CASCADE,
  constraint sku_source_id_length CHECK (length(source_id) >= 1 AND length(source_id) <= 255)
);

create table stacking_rules (
  project_id text not null,
  id text not null,
  options jsonb not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint stacking_rules_pkey PRIMARY KEY (project_id)
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
  name text not null,
  type text not null,
  context_type text not null,
  rules jsonb not null,
  bundle_rules jsonb,
  applicable_to jsonb,
  error_message text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint validation_rule_pkey PRIMARY KEY (project_id, id)
);

create table validation_rule_assignment (
  project_id text not null,
  id text not null,
  rule_id text not null,
  object_type text not null,
  object_id text not null,
  created_at timestamp with time zone not null,
  constraint validation_rule_assignment_pkey PRIMARY KEY (project_id, id),
  constraint validation_rule_assignment_project_id_rule_id_fkey FOREIGN KEY (project_id, rule_id) REFERENCES validation_rule(project_id, id)
);

CREATE INDEX binned_entry_project_product ON binned_entry USING btree (project_id, product_id) WHERE product_id IS NOT NULL;

CREATE UNIQUE INDEX binned_entry_project_source_id ON binned_entry USING btree (project_id, kind, source_id) WHERE source_id IS NOT NULL;

CREATE INDEX outbox_default_seq ON outbox_default USING btree (seq);

CREATE INDEX product_project_created_at ON product USING btree (project_id, created_at, id);

CREATE UNIQUE INDEX product_project_source_id ON product USING btree (project_id, source_id);

CREATE INDEX product_collection_entry_project_product ON product_collection_entry USING btree (project_id, product_id) WHERE product_id IS NOT NULL;

CREATE INDEX product_collection_entry_project_sku ON product_collection_entry USING btree (project_id, sku_id) WHERE sku_id IS NOT NULL;

CREATE INDEX shop_order_project_created_at ON shop_order USING btree (project_id, created_at);

CREATE UNIQUE INDEX shop_order_project_source_id ON shop_order USING btree (project_id, source_id);

CREATE INDEX sku_project_product ON sku USING btree (project_id, product_id, created_at, id);

CREATE UNIQUE INDEX sku_project_source_id ON sku USING btree (project_id, source_id);

CREATE INDEX validation_rule_project_created_at ON validation_rule USING btree (project_id, created_at, id);

CREATE UNIQUE INDEX validation_rule_assignment_project_campaign ON validation_rule_assignment USING btree (project_id, object_id) WHERE object_type = 'campaign'::text;

CREATE INDEX validation_rule_assignment_project_created_at ON validation_rule_assignment USING btree (project_id, created_at, id);

CREATE UNIQUE INDEX validation_rule_assignment_project_object_rule ON validation_rule_assignment USING btree (project_id, object_id, rule_id);

CREATE INDEX validation_rule_assignment_project_rule ON validation_rule_assignment USING btree (project_id, rule_id, created_at, id);
