-- Made from the migrations by services/shared/testing/src/golden-schemas.ts; do not edit.

create table definition_version (
  project_id text not null,
  version bigint not null,
  constraint definition_version_pkey PRIMARY KEY (project_id)
);

create table outbox (
  project_id text not null,
  id text not null,
  topic text not null,
  key text not null,
  type text,
  payload bytea not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint outbox_pkey PRIMARY KEY (project_id, id)
);

create table outbox_lease (
  name text not null,
  owner text not null,
  expires_at timestamp with time zone not null,
  constraint outbox_lease_pkey PRIMARY KEY (name)
);

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

create table session_claim (
  project_id text not null,
  session_key text not null,
  voucher_id text not null,
  claimed_by text not null,
  claimed_until timestamp with time zone not null,
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

CREATE INDEX outbox_created_at ON outbox USING btree (created_at, id);

CREATE INDEX product_project_created_at ON product USING btree (project_id, created_at, id);

CREATE UNIQUE INDEX product_project_source_id ON product USING btree (project_id, source_id);

CREATE INDEX shop_order_project_created_at ON shop_order USING btree (project_id, created_at);

CREATE UNIQUE INDEX shop_order_project_source_id ON shop_order USING btree (project_id, source_id);

CREATE INDEX sku_project_product ON sku USING btree (project_id, product_id, created_at, id);

CREATE UNIQUE INDEX sku_project_source_id ON sku USING btree (project_id, source_id);
