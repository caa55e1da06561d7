-- Names of the events that webhooks of the project receive; their owner is the export service.
alter table project add column webhook_events text[] not null default '{}';
