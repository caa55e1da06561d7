-- Made from the migrations by services/shared/testing/src/golden-schemas.ts; do not edit.

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

create table customer_order (
  project_id text not null,
  order_id text not null,
  customer_id text not null,
  amount bigint not null,
  changed_at timestamp with time zone not null,
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

create table inbox (
  project_id text not null,
  consumer text not null,
  event_id text not null,
  seen_at timestamp with time zone default clock_timestamp() not null,
  constraint inbox_pkey PRIMARY KEY (project_id, consumer, event_id)
);

create table segment (
  project_id text not null,
  id text not null,
  name text not null,
  type text not null,
  filter jsonb,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
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

CREATE INDEX customer_project_city ON customer USING btree (project_id, city) WHERE city IS NOT NULL;

CREATE INDEX customer_project_created_at ON customer USING btree (project_id, created_at, id);

CREATE INDEX customer_project_email ON customer USING btree (project_id, email) WHERE email IS NOT NULL;

CREATE INDEX customer_project_name ON customer USING btree (project_id, name) WHERE name IS NOT NULL;

CREATE UNIQUE INDEX customer_project_source_id ON customer USING btree (project_id, source_id);

CREATE INDEX customer_order_project_customer ON customer_order USING btree (project_id, customer_id, changed_at) INCLUDE (amount);

CREATE INDEX inbox_seen_at ON inbox USING btree (seen_at);

CREATE INDEX segment_project_created_at ON segment USING btree (project_id, created_at, id);

CREATE INDEX segment_customer_project_customer ON segment_customer USING btree (project_id, customer_id) INCLUDE (segment_id);
