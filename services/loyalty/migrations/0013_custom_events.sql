-- Custom events of customers, and the schemas that define them.

create table custom_event_schema (
  project_id text        not null,
  id         text        not null,
  name       text        not null,
  -- Definitions by metadata key: {"<key>": {"type": …, "optional": …, "deleted": …}}.
  properties jsonb       not null,
  created_at timestamptz not null,
  updated_at timestamptz,
  primary key (project_id, id)
);

create unique index custom_event_schema_name on custom_event_schema (project_id, name);

create table custom_event (
  project_id      text        not null,
  id              text        not null,
  customer_id     text        not null,
  name            text        not null,
  schema_id       text,
  metadata        jsonb       not null,
  loyalty_card_id text,
  referral_code   text,
  -- The project's time.
  created_at      timestamptz not null,
  primary key (project_id, id)
);

create index custom_event_project_customer on custom_event (project_id, customer_id, id);
