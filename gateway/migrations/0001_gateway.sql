-- Projects (tenants), their keys and tokens, and the answers kept for repeated requests.
--
-- A key's id and a token's hash are what finds the project, so these two tables are keyed by them
-- alone; everything else starts with project_id. Secrets are kept as SHA-256 only: all of them are
-- 256 random bits, so a slower hash would protect nothing.

create table project (
  project_id             text        primary key,
  name                   text        not null,
  description            text,
  time_zone              text        not null,
  currency               text,
  dial_code              text,
  case_sensitive_codes   boolean     not null,
  default_code_config    jsonb,
  client_trusted_domains text[]      not null,
  -- What the client side may do beyond validating: the names of the project's flags that are on.
  client_features        text[]      not null,
  sandbox                boolean     not null,
  sandbox_now            timestamptz,
  webhook_version        text,
  api_version            text,
  created_at             timestamptz not null,
  updated_at             timestamptz,
  -- The resources of a deleted project stay with their services; the row says whose they were.
  deleted_at             timestamptz,

  constraint project_clock_of_sandboxes_only check (sandbox_now is null or sandbox)
);

create table api_key (
  key_id      text        primary key,
  project_id  text        not null references project (project_id),
  name        text        not null,
  kind        text        not null,
  -- Empty: everything of its kind.
  scopes      text[]      not null,
  -- Empty: from everywhere.
  allowed_ips text[]      not null,
  secret_hash bytea       not null,
  blocked     boolean     not null default false,
  created_at  timestamptz not null,
  updated_at  timestamptz,

  constraint api_key_kind_known check (kind in ('server', 'client')),
  constraint api_key_secret_hashed check (octet_length(secret_hash) = 32)
);

create index api_key_project_id on api_key (project_id, key_id);

create table access_token (
  token_hash bytea       primary key,
  project_id text        not null references project (project_id) on delete cascade,
  key_id     text        not null references api_key (key_id) on delete cascade,
  -- As it was asked for, separated by spaces.
  scope      text        not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,

  constraint access_token_hashed check (octet_length(token_hash) = 32)
);

create index access_token_project_id_created_at on access_token (project_id, created_at);
create index access_token_key_id on access_token (key_id);
create index access_token_expires_at on access_token (expires_at);

-- One row for each Idempotency-Key whose answer the gateway keeps. Without a status the request is
-- in flight, or its process died: after locked_until a repeat may take the row over.
create table idempotency (
  project_id   text        not null,
  -- The application and a hash over method, path and the key that was sent.
  scoped_key   text        not null,
  request_hash bytea       not null,
  -- Counts who took the row, so that a slow earlier owner cannot store its answer any more.
  attempt      int         not null default 1,
  locked_until timestamptz not null,
  status       int,
  headers      jsonb,
  body         bytea,
  expires_at   timestamptz not null,

  primary key (project_id, scoped_key),
  constraint idempotency_answer_whole check ((status is null) = (headers is null))
);

create index idempotency_expires_at on idempotency (expires_at);
