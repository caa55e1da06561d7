-- When an owner first rejected the job's next slice because it had too much to do; null: it has not.
alter table job add column busy_since timestamptz;
