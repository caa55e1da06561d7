-- Files of imports: what requests sent, until their jobs have read it.
create table import_file (
  project_id text        not null,
  id         text        not null,
  bytes      bigint      not null default 0,
  parts      bigint      not null default 0,
  -- Ends of CSV records so far, and whether a quoted cell is open, so that the next part continues to count.
  records    bigint      not null default 0,
  in_quotes  boolean     not null default false,
  -- The import that reads the file. NULL: it was not started.
  job_id     text,
  created_at timestamptz not null default clock_timestamp(),

  primary key (project_id, id)
);

create table import_part (
  project_id text   not null,
  file_id    text   not null,
  number     bigint not null,
  -- Position of the first byte in the file.
  start      bigint not null,
  data       bytea  not null,

  primary key (project_id, file_id, number),
  foreign key (project_id, file_id) references import_file (project_id, id) on delete cascade
);
-- Uncompressed, so that a slice reads a range without the rest of the part.
alter table import_part alter column data set storage external;
