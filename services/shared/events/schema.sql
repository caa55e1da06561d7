-- Made from the migrations by services/shared/testing/src/golden-schemas.ts; do not edit.

create table bus_batch (
  topic text not null,
  first_offset bigint not null,
  last_offset bigint not null,
  published_at timestamp with time zone default clock_timestamp() not null,
  partitions bytea not null,
  size integer not null,
  events bytea not null,
  written_at timestamp with time zone
) partition by RANGE (published_at);

create table bus_batch_default partition of bus_batch (
  constraint bus_batch_default_pkey PRIMARY KEY (topic, last_offset)
) DEFAULT;

create table bus_dead_letter (
  consumer_group text not null,
  topic text not null,
  partition integer not null,
  log_offset bigint not null,
  id text not null,
  project_id text not null,
  key text not null,
  type text,
  headers jsonb,
  payload bytea not null,
  occurred_at timestamp with time zone not null,
  error text not null,
  attempts integer not null,
  buried_at timestamp with time zone default clock_timestamp() not null,
  schema_version integer,
  entity_version bigint,
  epoch integer,
  constraint bus_dead_letter_pkey PRIMARY KEY (consumer_group, topic, partition, log_offset)
);

create table bus_log (
  topic text not null,
  partition integer not null,
  log_offset bigint not null,
  id text not null,
  project_id text not null,
  key text not null,
  type text,
  headers jsonb,
  payload bytea not null,
  occurred_at timestamp with time zone not null,
  published_at timestamp with time zone default clock_timestamp() not null,
  constraint bus_log_pkey PRIMARY KEY (topic, partition, log_offset),
  constraint bus_log_closed CHECK (false) NOT VALID
);

create table bus_member (
  consumer_group text not null,
  member text not null,
  topics text[] not null,
  expires_at timestamp with time zone not null,
  constraint bus_member_pkey PRIMARY KEY (consumer_group, member)
);

create table bus_offset (
  consumer_group text not null,
  topic text not null,
  partition integer not null,
  log_offset bigint default 0 not null,
  owner text,
  epoch bigint default 0 not null,
  expires_at timestamp with time zone,
  constraint bus_offset_pkey PRIMARY KEY (consumer_group, topic, partition),
  constraint bus_offset_not_negative CHECK (log_offset >= 0),
  constraint bus_offset_owner_expires CHECK ((owner IS NULL) = (expires_at IS NULL))
) with (fillfactor=50);

create table bus_partition (
  topic text not null,
  partition integer not null,
  first_offset bigint default 0 not null,
  next_offset bigint not null,
  constraint bus_partition_pkey PRIMARY KEY (topic, partition),
  constraint bus_partition_offsets_ordered CHECK (first_offset >= 0 AND first_offset <= next_offset)
) with (fillfactor=50);

create table bus_topic (
  topic text not null,
  first_batch bigint default 0 not null,
  next_offset bigint not null,
  constraint bus_topic_pkey PRIMARY KEY (topic),
  constraint bus_topic_offsets_ordered CHECK (first_batch >= 0 AND first_batch <= next_offset)
) with (fillfactor=50);
