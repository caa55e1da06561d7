-- What a bulk update did with each item: CSV, one part for each slice that has items. The link to it contains the token.
alter table job add column report_token text;

create table job_report (
  project_id text   not null,
  job_id     text   not null,
  -- The slice.
  number     bigint not null,
  data       text   not null,

  primary key (project_id, job_id, number),
  foreign key (project_id, job_id) references job (project_id, id) on delete cascade
);
-- A link does not name the project.
create index job_with_report on job (id) where report_token is not null;
