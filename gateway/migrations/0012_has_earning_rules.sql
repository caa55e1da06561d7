-- Whether the project has or had earning rules; their owner is the loyalty service.
alter table project add column has_earning_rules boolean not null default false;
