-- Categories: vouchers and campaigns hold their ids, so that a new name shows everywhere at once.
--
-- Every primary key and unique index starts with project_id: a project is the tenant, and no query
-- may cross it.

create table category (
  project_id text        not null,
  id         text        not null,
  name       text        not null,
  hierarchy  bigint      not null,
  created_at timestamptz not null,
  updated_at timestamptz,
  primary key (project_id, id),
  constraint category_hierarchy_not_negative check (hierarchy >= 0)
);

create unique index category_project_name on category (project_id, name);
