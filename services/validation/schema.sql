-- Made from the migrations by services/shared/testing/src/golden-schemas.ts; do not edit.

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

CREATE INDEX outbox_created_at ON outbox USING btree (created_at, id);

CREATE INDEX shop_order_project_created_at ON shop_order USING btree (project_id, created_at);

CREATE UNIQUE INDEX shop_order_project_source_id ON shop_order USING btree (project_id, source_id);
