-- The log stores batches of events instead of single ones: a batch is one row with one index entry, and its events are
-- compressed together (services/decisions/0029). It is partitioned by time, and dropped by the day.
--
-- The offset of an event counts the events of its topic, over all partitions. bus_log and bus_partition stay until
-- their last entry has expired. A process of the release before can no longer publish, so that no event gets an
-- offset behind a reader: its outbox waits for a process of this release.

create table bus_topic (
  topic       text   not null primary key,
  -- Smaller offsets are in bus_log.
  first_batch bigint not null default 0,
  -- Its row lock orders the writers, as that of bus_partition did.
  next_offset bigint not null,

  constraint bus_topic_offsets_ordered check (first_batch between 0 and next_offset)
) with (fillfactor = 50);

create table bus_batch (
  topic        text        not null,
  first_offset bigint      not null,
  last_offset  bigint      not null,
  published_at timestamptz not null default clock_timestamp(),
  -- A byte for each event: its partition.
  partitions   bytea       not null,
  -- Bytes of the events before compression.
  size         integer     not null,
  events       bytea       not null
) partition by range (published_at);

-- Compressed already, where that is worth it.
alter table bus_batch alter column events set storage external;

create table bus_batch_default partition of bus_batch (primary key (topic, last_offset)) default;

lock table bus_log in share row exclusive mode;
insert into bus_topic (topic, first_batch, next_offset)
select topic, max(next_offset), max(next_offset) from bus_partition group by topic;
alter table bus_log add constraint bus_log_closed check (false) not valid;
