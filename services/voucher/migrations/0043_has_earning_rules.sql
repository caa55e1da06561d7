-- Whether the project has or had earning rules (services/decisions/0084).
alter table project add column has_earning_rules boolean not null default false;
