-- The request that caused the event, as its headers.
alter table awaited_card add column origin jsonb;
