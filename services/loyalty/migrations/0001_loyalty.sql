-- Customers. A project (the tenant) starts every key; the shop's own source id is unique in it.

create table customer (
  project_id  text        not null,
  id          text        not null,
  source_id   text,
  name        text,
  email       text,
  phone       text,
  country     text,
  description text,
  metadata    jsonb       not null default '{}',
  created_at  timestamptz not null,
  updated_at  timestamptz,
  primary key (project_id, id),
  constraint customer_source_id_length check (length(source_id) between 1 and 255)
);

create unique index customer_project_source_id on customer (project_id, source_id);
