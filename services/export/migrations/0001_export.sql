-- Bulk work: each row is one job, which is carried out slice by slice. A job of the queue `bulk` is an async action.
create table job (
  project_id  text        not null,
  id          text        not null,
  -- Jobs of one queue of a project run one at a time, in the order of `enqueued_at`.
  queue       text        not null,
  enqueued_at timestamptz not null default clock_timestamp(),
  type        text        not null,
  status      text        not null default 'ENQUEUED',
  request_id  text        not null,
  input       jsonb       not null,
  -- The checkpoint: where the next slice starts. NULL: at the beginning.
  position    jsonb,
  slices      bigint      not null default 0,
  processed   bigint      not null default 0,
  failed      bigint      not null default 0,
  total       bigint,
  -- Identifies the process that may write checkpoints: each claim increases it.
  run         bigint      not null default 0,
  -- Claims since the last checkpoint.
  attempts    integer     not null default 0,
  retry_at    timestamptz,
  last_error  text,
  result      jsonb,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  -- Real time, also in sandbox projects.
  started_at  timestamptz,
  finished_at timestamptz,

  primary key (project_id, id),
  constraint job_status check (status in ('ENQUEUED', 'IN_PROGRESS', 'DONE', 'FAILED')),
  constraint job_counts check (slices >= 0 and processed >= 0 and failed >= 0),
  constraint job_ends_with_a_result check
    ((finished_at is not null and result is not null) = (status in ('DONE', 'FAILED')))
);
create index job_unfinished on job (project_id, queue, enqueued_at, id) where status in ('ENQUEUED', 'IN_PROGRESS');
create index job_by_creation on job (project_id, queue, created_at desc);

-- The items of a job that failed, in the order of the input.
create table job_failure (
  project_id text   not null,
  job_id     text   not null,
  number     bigint not null,
  item       jsonb  not null,

  primary key (project_id, job_id, number),
  foreign key (project_id, job_id) references job (project_id, id) on delete cascade
);

-- Processes that carry out jobs. The jobs of one that was not seen for some seconds go to another.
create table worker (
  id      text        not null primary key,
  seen_at timestamptz not null
);

-- Replica of the gateway's projects (topic scrip.projects.v1). Only the latest version of each is stored.
create table project (
  project_id           text        not null primary key,
  version              bigint      not null,
  deleted              boolean     not null,
  time_zone            text        not null,
  first_weekday        smallint    not null,
  case_sensitive_codes boolean     not null,
  default_code_config  text,
  sandbox_now          timestamptz
);

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

-- Events that were handled, so that a repeat is not.
create table inbox (
  project_id text        not null,
  consumer   text        not null,
  event_id   text        not null,
  seen_at    timestamptz not null default clock_timestamp(),

  primary key (project_id, consumer, event_id)
);
create index inbox_seen_at on inbox (seen_at);
