-- Finds deliveries of bulk work by their time, and those of an aggregate.
-- without a transaction

create index concurrently if not exists webhook_delivery_bulk
    on webhook_delivery (project_id, webhook_id, next_attempt_at)
 where status = 'PENDING' and bulk;
