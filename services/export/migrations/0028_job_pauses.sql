-- When the job's next slice paused for the first time; null: it has not.
alter table job add column paused_since timestamptz;
