-- What consumers see of an event besides its content. Null: the first version of the message, an entity without versions,
-- no headers.
alter table outbox
  add column schema_version smallint,
  add column entity_version bigint,
  add column headers jsonb;
