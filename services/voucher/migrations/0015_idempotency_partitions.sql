-- Stored responses, partitioned by the day of their transaction, so that expired ones are dropped with their partition
-- (maintainPartitions of @scrip/postgres). Statements of the release before work unchanged.

do $$
declare
  bound text;
begin
  lock table idempotency in access exclusive mode;
  select coalesce(
           (select (regexp_match(pg_get_constraintdef(oid), '''([^'']+)'''))[1]
              from pg_constraint
             where conrelid = 'idempotency'::regclass and conname = 'idempotency_before_partitions'),
           (date_trunc('day', now(), 'UTC') + interval '7 days')::text)
    into bound;

  alter table idempotency rename to idempotency_p0000000000;
  alter index idempotency_pkey rename to idempotency_p0000000000_pkey;
  create table idempotency (like idempotency_p0000000000 including defaults)
    partition by range (created_at);

  if exists (select from idempotency_p0000000000) then
    -- The constraint proves the bounds, so nothing is read.
    execute format(
      'alter table idempotency attach partition idempotency_p0000000000 for values from (minvalue) to (%L)', bound);
    alter table idempotency_p0000000000 drop constraint if exists idempotency_before_partitions;
  else
    drop table idempotency_p0000000000;
  end if;
end
$$;

-- For rows without a partition of their own. A key is unique in each partition; the statements that store keys make it
-- unique across two of them.
create table idempotency_default partition of idempotency (primary key (project_id, key)) default;
