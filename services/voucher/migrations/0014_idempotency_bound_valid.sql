-- Reads the table while requests go on writing it.

do $$
begin
  if exists (select from pg_constraint
              where conrelid = 'idempotency'::regclass and conname = 'idempotency_before_partitions') then
    alter table idempotency validate constraint idempotency_before_partitions;
  end if;
end
$$;
