-- Names of the events that webhooks of the project receive (services/decisions/0044).
alter table project add column webhook_events jsonb not null default '[]';
