-- Services replicate projects: each change has a version and is published through the outbox.
alter table project add column version bigint not null default 1;

-- When the project was last published. Null: never, as projects of earlier releases.
alter table project add column published_at timestamptz;

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

-- The process that publishes the outbox: one row.
create table outbox_lease (
  name       text        not null primary key,
  owner      text        not null,
  expires_at timestamptz not null
);
