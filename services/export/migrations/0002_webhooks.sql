-- Subscriptions of URLs to events of a project.
create table webhook (
  project_id text        not null,
  id         text        not null,
  target_url text        not null,
  events     text[]      not null,
  headers    jsonb       not null default '{}',
  active     boolean     not null,
  -- Not later than the earliest next attempt of its pending deliveries.
  due_at     timestamptz not null default 'infinity',
  -- Real time: events that occurred before do not concern the webhook.
  since      timestamptz not null default clock_timestamp(),
  created_at timestamptz not null,
  updated_at timestamptz,

  primary key (project_id, id),
  constraint webhook_has_events check (cardinality(events) > 0)
);
create index webhook_due on webhook (due_at) where active and due_at < 'infinity';

-- The key of the signatures, one per project.
create table webhook_secret (
  project_id text not null primary key,
  secret     text not null
);

-- The last sequence number of each aggregate, per webhook.
create table webhook_sequence (
  project_id   text   not null,
  webhook_id   text   not null,
  aggregate_id text   not null,
  last         bigint not null,

  primary key (project_id, webhook_id, aggregate_id),
  foreign key (project_id, webhook_id) references webhook (project_id, id) on delete cascade
);

-- One event for one webhook, until it is trimmed after 30 days.
create table webhook_delivery (
  project_id      text        not null,
  id              text        not null,
  webhook_id      text        not null,
  type            text        not null,
  event_id        text        not null,
  aggregate_id    text        not null,
  sequence        bigint      not null,
  body            text        not null,
  status          text        not null default 'PENDING',
  attempts        integer     not null default 0,
  -- Since the last replay: decides about the next pause.
  failed_attempts integer     not null default 0,
  -- While an attempt runs, the time when another process may repeat it.
  next_attempt_at timestamptz,
  last_attempt_at timestamptz,
  response_status integer,
  error           text,
  duration_ms     integer,
  created_at      timestamptz not null,

  primary key (project_id, webhook_id, id),
  foreign key (project_id, webhook_id) references webhook (project_id, id) on delete cascade,
  constraint webhook_delivery_status check (status in ('PENDING', 'SUCCEEDED', 'FAILED')),
  constraint webhook_delivery_waits_while_pending check ((next_attempt_at is not null) = (status = 'PENDING'))
);
create unique index webhook_delivery_event on webhook_delivery (project_id, webhook_id, event_id, type);
create unique index webhook_delivery_sequence on webhook_delivery (project_id, webhook_id, aggregate_id, sequence);
create index webhook_delivery_pending on webhook_delivery (project_id, webhook_id, next_attempt_at)
  where status = 'PENDING';
create index webhook_delivery_created_at on webhook_delivery using brin (created_at);
