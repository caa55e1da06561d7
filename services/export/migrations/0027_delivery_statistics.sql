-- Statistics of typical content: a webhook has many deliveries. Without any, PostgreSQL reads all deliveries of a webhook to find
-- one of them, from the first in a new installation until it analyses the table. These rows are too few for it to analyse the
-- table when they are gone, and it would keep the statistics of an empty one.
insert into webhook (project_id, id, target_url, events, headers, active, created_at)
values ('statistics', 'statistics', '', '{voucher.created}', '{}', false, clock_timestamp());

insert into webhook_delivery (project_id, webhook_id, id, type, event_id, aggregate_id, sequence, body, created_at, status, bulk,
       next_attempt_at)
select 'statistics', 'statistics', 'whs_' || number, 'voucher.created', 'event_' || number, 'v_' || number, 1, '{}', clock_timestamp(),
       case when number <= 10 then 'PENDING' else 'SUCCEEDED' end, number <= 5,
       case when number <= 10 then clock_timestamp() end
  from generate_series(1, 20) as number;

analyze webhook_delivery;

delete from webhook where project_id = 'statistics';
