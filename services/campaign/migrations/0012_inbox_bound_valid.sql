-- Reads the table while events go on being handled.

do $$
begin
  if exists (select from pg_constraint
              where conrelid = 'inbox'::regclass and conname = 'inbox_before_partitions') then
    alter table inbox validate constraint inbox_before_partitions;
  end if;
end
$$;
