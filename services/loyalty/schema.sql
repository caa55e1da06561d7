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
  constraint customer_pkey PRIMARY KEY (project_id, id),
  constraint customer_source_id_length CHECK (length(source_id) >= 1 AND length(source_id) <= 255)
);

CREATE UNIQUE INDEX customer_project_source_id ON customer USING btree (project_id, source_id);
