-- Made from the migrations by services/shared/testing/src/golden-schemas.ts; do not edit.

create sequence outbox_seq;

create table access_token (
  token_hash bytea not null,
  project_id text not null,
  key_id text not null,
  scope text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone not null,
  constraint access_token_pkey PRIMARY KEY (token_hash),
  constraint access_token_hashed CHECK (octet_length(token_hash) = 32),
  constraint access_token_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(key_id) ON DELETE CASCADE,
  constraint access_token_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(project_id) ON DELETE CASCADE
);

create table api_key (
  key_id text not null,
  project_id text not null,
  name text not null,
  kind text not null,
  scopes text[] not null,
  allowed_ips text[] not null,
  secret_hash bytea not null,
  blocked boolean default false not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint api_key_pkey PRIMARY KEY (key_id),
  constraint api_key_kind_known CHECK (kind = ANY (ARRAY['server'::text, 'client'::text])),
  constraint api_key_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(project_id),
  constraint api_key_secret_hashed CHECK (octet_length(secret_hash) = 32)
);

create table definition_version (
  project_id text not null,
  version bigint not null,
  constraint definition_version_pkey PRIMARY KEY (project_id)
);

create table idempotency (
  project_id text not null,
  scoped_key text not null,
  request_hash bytea not null,
  attempt integer default 1 not null,
  locked_until timestamp with time zone not null,
  status integer,
  headers jsonb,
  body bytea,
  expires_at timestamp with time zone not null,
  constraint idempotency_pkey PRIMARY KEY (project_id, scoped_key),
  constraint idempotency_answer_whole CHECK ((status IS NULL) = (headers IS NULL))
);

create table metadata_schema (
  project_id text not null,
  id text not null,
  related_object text not null,
  properties jsonb not null,
  allow_defined_only boolean not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint metadata_schema_pkey PRIMARY KEY (project_id, id),
  constraint metadata_schema_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(project_id),
  constraint metadata_schema_related_object_length CHECK (length(related_object) >= 1 AND length(related_object) <= 100)
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

create table project (
  project_id text not null,
  name text not null,
  description text,
  time_zone text not null,
  currency text,
  dial_code text,
  case_sensitive_codes boolean not null,
  default_code_config jsonb,
  client_trusted_domains text[] not null,
  client_features text[] not null,
  sandbox boolean not null,
  sandbox_now timestamp with time zone,
  webhook_version text,
  api_version text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  deleted_at timestamp with time zone,
  first_weekday smallint default 1 not null,
  version bigint default 1 not null,
  published_at timestamp with time zone,
  webhook_events text[] default '{}'::text[] not null,
  has_earning_rules boolean default false not null,
  cancel_pending_points_on_order_cancel boolean default false not null,
  constraint project_pkey PRIMARY KEY (project_id),
  constraint project_clock_of_sandboxes_only CHECK (sandbox_now IS NULL OR sandbox),
  constraint project_first_weekday_is_one CHECK (first_weekday >= 0 AND first_weekday <= 6)
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

CREATE INDEX access_token_expires_at ON access_token USING btree (expires_at);

CREATE INDEX access_token_key_id ON access_token USING btree (key_id);

CREATE INDEX access_token_project_id_created_at ON access_token USING btree (project_id, created_at);

CREATE INDEX api_key_project_id ON api_key USING btree (project_id, key_id);

CREATE INDEX idempotency_expires_at ON idempotency USING btree (expires_at);

CREATE UNIQUE INDEX metadata_schema_project_related_object ON metadata_schema USING btree (project_id, related_object);

CREATE INDEX outbox_default_seq ON outbox_default USING btree (seq);
