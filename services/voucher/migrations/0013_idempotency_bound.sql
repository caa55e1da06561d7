-- Stored responses are about to be partitioned by time (services/decisions/0029). The table of today becomes a partition
-- that holds all rows before a bound, some days ahead. Attaching it must not read it under a lock, so the bound is a
-- constraint first. An empty table is replaced instead.

do $$
begin
  if exists (select from idempotency) then
    execute format(
      'alter table idempotency add constraint idempotency_before_partitions check (created_at < %L) not valid',
      date_trunc('day', now(), 'UTC') + interval '7 days');
  end if;
end
$$;
