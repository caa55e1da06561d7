-- The audit log is a hash chain per project and day (docs/audit-log.md#hash-chain). Entries from before this migration, and
-- those that a process of an earlier release adds during the upgrade, have none of these columns.
alter table audit_entry
  -- From 1, in the order in which the entries of the project's day (UTC) were stored.
  add column position bigint,
  -- The hash of the entry before it; of the first entry: that of the day, or null.
  add column previous_hash bytea,
  add column hash bytea;

-- Where the chain of a project's day ends; dropped together with the entries of the day.
create table audit_day (
  project_id         text        not null,
  -- Its first instant, UTC.
  day                timestamptz not null,
  -- The position and hash of the last entry.
  entries            bigint      not null,
  last_hash          bytea,
  -- The last entry of the project's latest other day when this one got its first entry: the chain continues it. Null: none.
  previous_day       timestamptz,
  previous_position  bigint,
  previous_hash      bytea,
  -- Real time of the first entry that was stored.
  opened_at          timestamptz not null,
  constraint audit_day_previous_is_complete
    check ((previous_day is null) = (previous_position is null) and (previous_day is null) = (previous_hash is null))
) partition by range (day);

create table audit_day_default partition of audit_day (primary key (project_id, day)) default;
