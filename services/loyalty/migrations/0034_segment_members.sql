-- Members of segments that earning rules wait for. A segment is followed while a rule refers to it: IN_PROGRESS while the
-- members that it has are stored, in the order of their ids up to `sync_after`.
alter table segment
  add column sync_status text,
  add column sync_after text;

create index segment_followed on segment (project_id) where sync_status is not null;
create index segment_syncing on segment (project_id, id) where sync_status = 'IN_PROGRESS';

-- The known members of followed segments with a filter.
create table segment_member (
  project_id  text not null,
  segment_id  text not null,
  customer_id text not null,

  primary key (project_id, segment_id, customer_id),
  constraint segment_member_of_customer foreign key (project_id, customer_id)
    references customer (project_id, id) on delete cascade
);

create index segment_member_project_customer on segment_member (project_id, customer_id) include (segment_id);

-- Customers whose followed segments have to be evaluated, one row for each change.
create table changed_customer (
  project_id  text   not null,
  id          bigint not null generated always as identity,
  customer_id text   not null,

  primary key (project_id, id)
);

-- Deleted segments whose members are still being deleted, in chunks: they can be millions.
create table deleted_segment (
  project_id text not null,
  id         text not null,

  primary key (project_id, id)
);
