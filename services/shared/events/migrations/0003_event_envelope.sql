-- The whole envelope of an event, so that it is published again as it was.
alter table bus_dead_letter
  add column schema_version integer,
  add column entity_version bigint,
  add column epoch integer;
