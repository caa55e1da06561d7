-- Events that were handled, so that a repeat is not.
create table inbox (
  project_id text        not null,
  consumer   text        not null,
  event_id   text        not null,
  seen_at    timestamptz not null default clock_timestamp(),

  primary key (project_id, consumer, event_id)
);

create index inbox_seen_at on inbox (seen_at);
