-- The event bus on Postgres: a log that is split into partitions, and how far each group has read.
--
-- These tables are plumbing that all tenants share, as a broker's are, so their keys start with the
-- topic and not with project_id. No tenant reads them; the project of an event is a column.

-- One row for each partition that holds or held events. Its row lock orders the writers: an offset
-- is given out under it and becomes visible with the commit that releases it, so that readers see a
-- log without gaps and may keep a plain cursor.
create table bus_partition (
  topic        text    not null,
  partition    integer not null,
  -- The oldest entry that trimming has left.
  first_offset bigint  not null default 0,
  next_offset  bigint  not null,

  primary key (topic, partition),
  constraint bus_partition_offsets_ordered check (first_offset between 0 and next_offset)
) with (fillfactor = 50);

create table bus_log (
  topic        text        not null,
  partition    integer     not null,
  log_offset   bigint      not null,
  id           text        not null,
  project_id   text        not null,
  key          text        not null,
  type         text,
  -- Null stands for no headers, which is what most events have.
  headers      jsonb,
  payload      bytea       not null,
  occurred_at  timestamptz not null,
  published_at timestamptz not null default clock_timestamp(),

  primary key (topic, partition, log_offset)
);

-- The living members of a consumer group, by which they share out the partitions.
create table bus_member (
  consumer_group text        not null,
  member         text        not null,
  topics         text[]      not null,
  expires_at     timestamptz not null,

  primary key (consumer_group, member)
);

-- How far a group has read a partition, and who reads it now. The epoch counts the owners: a member
-- that was taken for dead cannot move the offset of its successor.
create table bus_offset (
  consumer_group text    not null,
  topic          text    not null,
  partition      integer not null,
  -- The next entry to handle.
  log_offset     bigint  not null default 0,
  owner          text,
  epoch          bigint  not null default 0,
  expires_at     timestamptz,

  primary key (consumer_group, topic, partition),
  constraint bus_offset_not_negative check (log_offset >= 0),
  constraint bus_offset_owner_expires check ((owner is null) = (expires_at is null))
) with (fillfactor = 50);

-- Events that a group could not handle, with all that is needed to publish them again.
create table bus_dead_letter (
  consumer_group text        not null,
  topic          text        not null,
  partition      integer     not null,
  log_offset     bigint      not null,
  id             text        not null,
  project_id     text        not null,
  key            text        not null,
  type           text,
  headers        jsonb,
  payload        bytea       not null,
  occurred_at    timestamptz not null,
  error          text        not null,
  attempts       integer     not null,
  buried_at      timestamptz not null default clock_timestamp(),

  primary key (consumer_group, topic, partition, log_offset)
);
