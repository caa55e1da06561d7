-- Whether bulk work caused the event: deliveries of others are sent first.
alter table webhook_delivery add column bulk boolean not null default false;
