-- Keys with the responses of their requests, partitioned by the day of the request, so that expired ones are dropped with
-- their partition (maintainPartitions of @scrip/postgres).

create table stored_request (like idempotent_request including defaults) partition by range (created_at);

-- For rows without a partition of their own. A key is unique in each partition; the statement that inserts it makes it
-- unique across two of them.
create table stored_request_default partition of stored_request (primary key (project_id, key)) default;

-- The table of the release before remains under its name, as the partition of the next days: processes of that release
-- use it until they end, and share its rows and its primary key with those of this one.
do $$
declare
  bound text;
begin
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

  select (regexp_match(pg_get_constraintdef(oid), '''([^'']+)'''))[1]
    into bound
    from pg_constraint
   where conrelid = 'idempotent_request'::regclass and conname = 'idempotent_request_bound';

  if bound is null and not exists (select from idempotent_request) then
    drop table idempotent_request;
  else
    -- The constraint proves the bounds, so nothing is read; without it, all rows are of the last minutes.
    execute format(
      'alter table stored_request attach partition idempotent_request for values from (minvalue) to (%L)',
      coalesce(bound, (date_trunc('day', now(), 'UTC') + interval '7 days')::text));
    alter table idempotent_request drop constraint if exists idempotent_request_bound;
  end if;
end
$$;
