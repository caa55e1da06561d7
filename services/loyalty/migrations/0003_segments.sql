-- Sets of customers: lists of them, and filters.

create table segment (
  project_id text        not null,
  id         text        not null,
  name       text        not null,
  type       text        not null,
  -- What a customer must meet to be in a segment that lists none.
  filter     jsonb,
  created_at timestamptz not null,
  updated_at timestamptz,

  primary key (project_id, id),
  constraint segment_type check (type in ('static', 'auto-update', 'passive')),
  constraint segment_filter_of_dynamic check ((type = 'static') = (filter is null))
);

create index segment_project_created_at on segment (project_id, created_at, id);

-- Who is in a static segment.
create table segment_customer (
  project_id  text not null,
  segment_id  text not null,
  customer_id text not null,

  primary key (project_id, segment_id, customer_id),
  constraint segment_customer_of_segment
    foreign key (project_id, segment_id) references segment on delete cascade,
  constraint segment_customer_of_customer
    foreign key (project_id, customer_id) references customer on delete cascade
);

create index segment_customer_project_customer
  on segment_customer (project_id, customer_id) include (segment_id);

-- Counts the changes of what the processes remember: segments.
create table definition_version (
  project_id text   not null primary key,
  version    bigint not null
);
