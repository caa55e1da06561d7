-- Keys and their stored responses are about to be partitioned by time (services/decisions/0029). The table of today
-- becomes a partition that holds all rows before a bound, some days ahead. Attaching it must not read it under a lock, so
-- the bound is a constraint first. A new installation has no use for it.

do $$
begin
  if exists (select from idempotent_request)
     or exists (select from migration where applied_at < now() - interval '10 minutes') then
    -- Writers queue behind a waiting lock, so it gives up soon and tries again.
    set local lock_timeout = '100ms';
    for attempt in 1..40 loop
      begin
        lock table idempotent_request in access exclusive mode;
        exit;
      exception when lock_not_available then
        perform pg_sleep(0.25);
      end;
    end loop;
    execute format(
      'alter table idempotent_request add constraint idempotent_request_bound check (created_at < %L) not valid',
      date_trunc('day', now(), 'UTC') + interval '7 days');
  end if;
end
$$;
