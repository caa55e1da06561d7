-- Made from the migrations by services/shared/testing/src/golden-schemas.ts; do not edit.

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
  constraint shop_order_pkey PRIMARY KEY (project_id, id),
  constraint shop_order_known_status CHECK (status = ANY (ARRAY['CREATED'::text, 'PAID'::text, 'CANCELED'::text, 'FULFILLED'::text])),
  constraint shop_order_source_id_length CHECK (length(source_id) >= 1 AND length(source_id) <= 255)
);

CREATE INDEX shop_order_project_created_at ON shop_order USING btree (project_id, created_at);

CREATE UNIQUE INDEX shop_order_project_source_id ON shop_order USING btree (project_id, source_id);
