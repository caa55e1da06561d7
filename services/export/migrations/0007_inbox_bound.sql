-- Ids of handled events are about to be partitioned by time (services/decisions/0029). The table of today becomes a
-- partition that holds all rows before a bound, some days ahead and at a boundary of partitions. Attaching it must not
-- read it under a lock, so the bound is a constraint first. An empty table is replaced instead.

do $$
begin
  if exists (select from inbox) then
    execute format(
      'alter table inbox add constraint inbox_before_partitions check (seen_at < %L) not valid',
      date_bin('5 days', now() + interval '12 days', 'epoch'));
  end if;
end
$$;
