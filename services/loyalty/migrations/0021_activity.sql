-- What customers did and what happened to them, from events of all services; expired rows are dropped with their
-- partition (services/decisions/0029).
create table activity (
  project_id  text        not null,
  -- The customer, or the loyalty card where the event does not tell who holds it.
  owner_id    text        not null,
  -- Sorts by time; the same at each delivery of its event.
  id          text        not null,
  type        text        not null,
  -- Loyalty card that it concerns.
  card_id     text,
  group_id    text        not null,
  -- Ids and figures of the resources, by their type.
  data        jsonb       not null,
  -- The project's time.
  created_at  timestamptz not null,
  -- Real time of the event: a repeated one finds its row in the same partition.
  occurred_at timestamptz not null
) partition by range (occurred_at);
create table activity_default partition of activity (primary key (project_id, owner_id, id)) default;
