-- Idempotency keys with the responses of their requests, written in the transaction of the effect
-- (services/decisions/0025). A row without response and error belongs to a request that has not ended.
create table idempotent_request (
  project_id   text        not null,
  key          text        not null,
  request_hash bytea       not null,
  -- What the ids of the request's objects are derived from, for requests that run in steps.
  seed         text,
  -- The response or the scrip.common.v1.Error in binary form.
  response     bytea,
  error        bytea,
  created_at   timestamptz not null default now(),
  primary key (project_id, key)
);
create index idempotent_request_created_at on idempotent_request using brin (created_at);
