-- A batch may refer to rows of the outbox of a service, which readers of this database read in place.

-- When the first of these rows was written; null when the batch itself contains its events.
alter table bus_batch add column written_at timestamptz;
