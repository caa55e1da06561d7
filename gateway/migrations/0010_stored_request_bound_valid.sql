-- Reads the table while requests go on writing it.

do $$
begin
  if exists (select from pg_constraint
              where conrelid = 'idempotent_request'::regclass and conname = 'idempotent_request_bound') then
    alter table idempotent_request validate constraint idempotent_request_bound;
  end if;
end
$$;
