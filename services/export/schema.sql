-- Made from the migrations by services/shared/testing/src/golden-schemas.ts; do not edit.

create table audit_day (
  project_id text not null,
  day timestamp with time zone not null,
  entries bigint not null,
  last_hash bytea,
  previous_day timestamp with time zone,
  previous_position bigint,
  previous_hash bytea,
  opened_at timestamp with time zone not null,
  constraint audit_day_previous_is_complete CHECK ((previous_day IS NULL) = (previous_position IS NULL) AND (previous_day IS NULL) = (previous_hash IS NULL))
) partition by RANGE (day);

create table audit_day_default partition of audit_day (
  constraint audit_day_default_pkey PRIMARY KEY (project_id, day)
) DEFAULT;

create table audit_entry (
  project_id text not null,
  id text not null,
  action text not null,
  resource text not null,
  resource_id text not null,
  fields text[] not null,
  actor_type text not null,
  actor_id text not null,
  request_id text not null,
  occurred_at timestamp with time zone not null,
  position bigint,
  previous_hash bytea,
  hash bytea
) partition by RANGE (occurred_at);

create table audit_entry_default partition of audit_entry (
  constraint audit_entry_default_pkey PRIMARY KEY (project_id, id)
) DEFAULT;

create table export (
  project_id text not null,
  id text not null,
  exported_object text not null,
  parameters jsonb not null,
  channel text default 'API'::text not null,
  created_at timestamp with time zone not null,
  token text not null,
  file_key text,
  file_size bigint,
  file_expires_at timestamp with time zone,
  constraint export_pkey PRIMARY KEY (project_id, id),
  constraint export_file_is_described CHECK ((file_key IS NULL) = (file_size IS NULL) AND (file_key IS NULL) = (file_expires_at IS NULL)),
  constraint export_project_id_id_fkey FOREIGN KEY (project_id, id) REFERENCES job(project_id, id) ON DELETE CASCADE
);

create table import_file (
  project_id text not null,
  id text not null,
  bytes bigint default 0 not null,
  parts bigint default 0 not null,
  records bigint default 0 not null,
  in_quotes boolean default false not null,
  job_id text,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint import_file_pkey PRIMARY KEY (project_id, id)
);

create table import_part (
  project_id text not null,
  file_id text not null,
  number bigint not null,
  start bigint not null,
  data bytea not null,
  constraint import_part_pkey PRIMARY KEY (project_id, file_id, number),
  constraint import_part_project_id_file_id_fkey FOREIGN KEY (project_id, file_id) REFERENCES import_file(project_id, id) ON DELETE CASCADE
);

create table inbox (
  project_id text not null,
  consumer text not null,
  event_id text not null,
  seen_at timestamp with time zone default clock_timestamp() not null
) partition by RANGE (seen_at);

create table inbox_default partition of inbox (
  constraint inbox_default_pkey PRIMARY KEY (project_id, consumer, event_id)
) DEFAULT;

create table job (
  project_id text not null,
  id text not null,
  queue text not null,
  enqueued_at timestamp with time zone default clock_timestamp() not null,
  type text not null,
  status text default 'ENQUEUED'::text not null,
  request_id text not null,
  input jsonb not null,
  position jsonb,
  slices bigint default 0 not null,
  processed bigint default 0 not null,
  failed bigint default 0 not null,
  total bigint,
  run bigint default 0 not null,
  attempts integer default 0 not null,
  retry_at timestamp with time zone,
  last_error text,
  result jsonb,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  in_slice bigint default 0 not null,
  report_token text,
  processing_ms bigint,
  project_version bigint,
  paused_since timestamp with time zone,
  busy_since timestamp with time zone,
  constraint job_pkey PRIMARY KEY (project_id, id),
  constraint job_counts CHECK (slices >= 0 AND processed >= 0 AND failed >= 0),
  constraint job_ends_with_a_result CHECK ((finished_at IS NOT NULL AND result IS NOT NULL) = (status = ANY (ARRAY['DONE'::text, 'FAILED'::text]))),
  constraint job_status CHECK (status = ANY (ARRAY['ENQUEUED'::text, 'IN_PROGRESS'::text, 'DONE'::text, 'FAILED'::text]))
);

create table job_failure (
  project_id text not null,
  job_id text not null,
  number bigint not null,
  item jsonb not null,
  constraint job_failure_pkey PRIMARY KEY (project_id, job_id, number),
  constraint job_failure_project_id_job_id_fkey FOREIGN KEY (project_id, job_id) REFERENCES job(project_id, id) ON DELETE CASCADE
);

create table job_report (
  project_id text not null,
  job_id text not null,
  number bigint not null,
  data text not null,
  constraint job_report_pkey PRIMARY KEY (project_id, job_id, number),
  constraint job_report_project_id_job_id_fkey FOREIGN KEY (project_id, job_id) REFERENCES job(project_id, id) ON DELETE CASCADE
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

create table webhook (
  project_id text not null,
  id text not null,
  target_url text not null,
  events text[] not null,
  headers jsonb default '{}'::jsonb not null,
  active boolean not null,
  due_at timestamp with time zone default 'infinity'::timestamp with time zone not null,
  since timestamp with time zone default clock_timestamp() not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  deleted_at timestamp with time zone,
  constraint webhook_pkey PRIMARY KEY (project_id, id),
  constraint webhook_has_events CHECK (cardinality(events) > 0)
);

create table webhook_delivery (
  project_id text not null,
  id text not null,
  webhook_id text not null,
  type text not null,
  event_id text not null,
  aggregate_id text not null,
  sequence bigint not null,
  body text not null,
  status text default 'PENDING'::text not null,
  attempts integer default 0 not null,
  failed_attempts integer default 0 not null,
  next_attempt_at timestamp with time zone,
  last_attempt_at timestamp with time zone,
  response_status integer,
  error text,
  duration_ms integer,
  created_at timestamp with time zone not null,
  bulk boolean default false not null,
  constraint webhook_delivery_pkey PRIMARY KEY (project_id, webhook_id, id),
  constraint webhook_delivery_project_id_webhook_id_fkey FOREIGN KEY (project_id, webhook_id) REFERENCES webhook(project_id, id) ON DELETE CASCADE,
  constraint webhook_delivery_status CHECK (status = ANY (ARRAY['PENDING'::text, 'SUCCEEDED'::text, 'FAILED'::text])),
  constraint webhook_delivery_waits_while_pending CHECK ((next_attempt_at IS NOT NULL) = (status = 'PENDING'::text))
);

create table webhook_secret (
  project_id text not null,
  secret text not null,
  constraint webhook_secret_pkey PRIMARY KEY (project_id)
);

create table webhook_sequence (
  project_id text not null,
  webhook_id text not null,
  aggregate_id text not null,
  last bigint not null,
  constraint webhook_sequence_pkey PRIMARY KEY (project_id, webhook_id, aggregate_id),
  constraint webhook_sequence_project_id_webhook_id_fkey FOREIGN KEY (project_id, webhook_id) REFERENCES webhook(project_id, id) ON DELETE CASCADE
);

create table worker (
  id text not null,
  seen_at timestamp with time zone not null,
  constraint worker_pkey PRIMARY KEY (id)
);

CREATE INDEX audit_entry_default_resource ON audit_entry_default USING btree (project_id, resource_id, id);

CREATE INDEX export_by_creation ON export USING btree (project_id, created_at DESC, id DESC);

CREATE INDEX export_by_id ON export USING btree (id);

CREATE INDEX export_expiring ON export USING btree (file_expires_at) WHERE file_key IS NOT NULL;

CREATE INDEX job_by_creation ON job USING btree (project_id, queue, created_at DESC);

CREATE INDEX job_unfinished ON job USING btree (project_id, queue, enqueued_at, id) WHERE status = ANY (ARRAY['ENQUEUED'::text, 'IN_PROGRESS'::text]);

CREATE INDEX job_with_report ON job USING btree (id) WHERE report_token IS NOT NULL;

CREATE INDEX webhook_due ON webhook USING btree (due_at) WHERE active AND due_at < 'infinity'::timestamp with time zone;

CREATE INDEX webhook_delivery_bulk_aggregate ON webhook_delivery USING btree (project_id, webhook_id, aggregate_id, sequence) WHERE status = 'PENDING'::text AND bulk;

CREATE INDEX webhook_delivery_created_at ON webhook_delivery USING brin (created_at);

CREATE INDEX webhook_delivery_due ON webhook_delivery USING btree (project_id, webhook_id, bulk, next_attempt_at) WHERE status = 'PENDING'::text;

CREATE UNIQUE INDEX webhook_delivery_event ON webhook_delivery USING btree (project_id, webhook_id, event_id, type);

CREATE UNIQUE INDEX webhook_delivery_sequence ON webhook_delivery USING btree (project_id, webhook_id, aggregate_id, sequence);
