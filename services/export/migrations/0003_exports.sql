-- Progress within a slice that takes long; the checkpoint adds it to `processed`.
alter table job add column in_slice bigint not null default 0;

-- Exports; each has a job of the queue `exports` with the same id.
create table export (
  project_id      text        not null,
  id              text        not null,
  exported_object text        not null,
  -- As the API shows them.
  parameters      jsonb       not null,
  channel         text        not null default 'API',
  created_at      timestamptz not null,
  -- The link to the file contains it.
  token           text        not null,
  -- Where the file is; NULL: not written yet, or deleted.
  file_key        text,
  file_size       bigint,
  file_expires_at timestamptz,

  primary key (project_id, id),
  foreign key (project_id, id) references job (project_id, id) on delete cascade,
  constraint export_file_is_described check
    ((file_key is null) = (file_size is null) and (file_key is null) = (file_expires_at is null))
);
create index export_by_creation on export (project_id, created_at desc, id desc);
-- A link does not name the project.
create index export_by_id on export (id);
create index export_expiring on export (file_expires_at) where file_key is not null;
