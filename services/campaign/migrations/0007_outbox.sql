-- Events about campaigns for other services.

create table outbox (
  project_id text        not null,
  id         text        not null,
  topic      text        not null,
  key        text        not null,
  type       text,
  payload    bytea       not null,
  created_at timestamptz not null default clock_timestamp(),

  primary key (project_id, id)
);

create index outbox_created_at on outbox (created_at, id);

-- Which of the processes moves the outbox on: one row.
create table outbox_lease (
  name       text        not null primary key,
  owner      text        not null,
  expires_at timestamptz not null
);
