-- Who changed what, from requests to all services; expired rows are dropped with their partition.
create table audit_entry (
  project_id  text        not null,
  -- Sorts by time.
  id          text        not null,
  action      text        not null,
  -- Empty: the request changed a batch.
  resource    text        not null,
  resource_id text        not null,
  -- Names of the fields that the request set.
  fields      text[]      not null,
  actor_type  text        not null,
  actor_id    text        not null,
  request_id  text        not null,
  occurred_at timestamptz not null
) partition by range (occurred_at);

create table audit_entry_default partition of audit_entry (primary key (project_id, id)) default;
create index audit_entry_default_resource on audit_entry_default (project_id, resource_id, id);
