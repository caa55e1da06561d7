-- What the metadata of resources must look like. `properties` holds the definitions by their keys,
-- deleted ones too: their types are kept.

create table metadata_schema (
  project_id         text        not null references project (project_id),
  id                 text        not null,
  -- A resource, or a name of the project's own that nested values refer to.
  related_object     text        not null,
  properties         jsonb       not null,
  allow_defined_only boolean     not null,
  created_at         timestamptz not null,
  updated_at         timestamptz,

  primary key (project_id, id),
  constraint metadata_schema_related_object_length check (length(related_object) between 1 and 100)
);

create unique index metadata_schema_project_related_object
  on metadata_schema (project_id, related_object);

-- Counts the changes of what the processes remember of a project.
create table definition_version (
  project_id text   not null primary key,
  version    bigint not null
);
