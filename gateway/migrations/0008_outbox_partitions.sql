-- Consumers read the outbox itself: its rows remain until their partition is dropped, and a position says which of them
-- are published (services/decisions/0051-events-read-in-the-outbox.md). A process of an earlier release finds no lease
-- and publishes nothing; what it writes is published by a process of this release.

drop table outbox_lease;

alter table outbox rename to outbox_before;

create sequence outbox_seq;

create table outbox (
  project_id     text        not null,
  id             text        not null,
  topic          text        not null,
  key            text        not null,
  type           text,
  payload        bytea       not null,
  created_at     timestamptz not null default clock_timestamp(),
  -- Null: the first version of the message, an entity without versions, no headers.
  schema_version smallint,
  entity_version bigint,
  headers        jsonb,
  -- The transaction that wrote the row: a snapshot tells whether it had committed.
  xid            xid8        not null default pg_current_xact_id(),
  -- Of the insert, under the lock of the key: the order of commits of the key. After the xid, so that a transaction
  -- that begins later has larger numbers.
  seq            bigint      not null default case when pg_current_xact_id() is not null then nextval('outbox_seq') end
) partition by range (created_at);

create table outbox_default partition of outbox default;
create index outbox_default_seq on outbox_default (seq);

insert into outbox
       (project_id, id, topic, key, type, payload, created_at, schema_version, entity_version, headers)
select project_id, id, topic, key, type, payload, created_at, schema_version, entity_version, headers
  from outbox_before
 order by created_at, id;

drop table outbox_before;

-- What is published, and the process that publishes: one row.
create table outbox_position (
  name           text        not null primary key,
  owner          text,
  expires_at     timestamptz,
  version        bigint      not null default 0,
  -- Rows of transactions that are visible in this snapshot are published.
  published      pg_snapshot,
  -- And those that are visible in this one, up to a number.
  reading        pg_snapshot,
  read_seq       bigint      not null default 0,
  -- All rows that are not published have larger numbers.
  low_seq        bigint      not null default 0,
  -- Rows of transactions after this one have numbers larger than that.
  mark_xid       xid8,
  mark_seq       bigint      not null default 0
) with (fillfactor = 50);
