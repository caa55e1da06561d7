-- Ids of handled events, partitioned by the time of their transaction, so that expired ones are dropped with their
-- partition (maintainPartitions of @scrip/postgres). Statements of the release before work unchanged.

do $$
declare
  bound text;
begin
  lock table inbox in access exclusive mode;
  select coalesce(
           (select (regexp_match(pg_get_constraintdef(oid), '''([^'']+)'''))[1]
              from pg_constraint
             where conrelid = 'inbox'::regclass and conname = 'inbox_before_partitions'),
           date_bin('5 days', now() + interval '12 days', 'epoch')::text)
    into bound;

  -- Partitions are dropped as a whole, and the time is looked up nowhere else.
  drop index inbox_seen_at;
  alter table inbox rename to inbox_p0000000000;
  alter index inbox_pkey rename to inbox_p0000000000_pkey;
  create table inbox (like inbox_p0000000000 including defaults)
    partition by range (seen_at);

  if exists (select from inbox_p0000000000) then
    -- The constraint proves the bounds, so nothing is read.
    execute format(
      'alter table inbox attach partition inbox_p0000000000 for values from (minvalue) to (%L)', bound);
    alter table inbox_p0000000000 drop constraint if exists inbox_before_partitions;
  else
    drop table inbox_p0000000000;
  end if;
end
$$;

-- For rows without a partition of their own. An event is recorded once in each partition; the statement that records it
-- makes it unique across all of them.
create table inbox_default partition of inbox (primary key (project_id, consumer, event_id)) default;
