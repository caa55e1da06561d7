-- The day that weeks begin on: 0 Sunday … 6 Saturday. Monday, unless a project says otherwise.
alter table project add column first_weekday smallint not null default 1
  constraint project_first_weekday_is_one check (first_weekday between 0 and 6);
