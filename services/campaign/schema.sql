-- Made from the migrations by services/shared/testing/src/golden-schemas.ts; do not edit.

create table category (
  project_id text not null,
  id text not null,
  name text not null,
  hierarchy bigint not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint category_pkey PRIMARY KEY (project_id, id),
  constraint category_hierarchy_not_negative CHECK (hierarchy >= 0)
);

CREATE UNIQUE INDEX category_project_name ON category USING btree (project_id, name);
