-- Activities in half the space of the table "activity", which processes of the release before continue to write. Both are
-- read until the last partition of "activity" has expired.
create table customer_activity (
  -- Real time of the event: a repeated one finds its row in the same partition.
  occurred_at   timestamptz not null,
  -- The project's time.
  created_at    timestamptz not null,
  project_id    text        not null,
  -- The customer's id in bytes, or a zero and the id of the loyalty card where the event does not tell who holds it.
  owner_id      bytea       not null,
  -- The id without its prefix, in bytes. Sorts by time; the same at each delivery of its event.
  id            bytea       not null,
  -- The id of the event in bytes, or a zero and its characters.
  group_id      bytea       not null,
  -- Without "customer.".
  type          text        not null,
  -- Loyalty card that it concerns.
  card_id       text,
  campaign_id   text,
  campaign_type text,
  reward_id     text,
  product_ids   text[],
  -- Ids and figures of the other resources, by their type: packed JSON.
  data          bytea       not null
) partition by range (occurred_at);
create table customer_activity_default partition of customer_activity (primary key (project_id, owner_id, id)) default;
