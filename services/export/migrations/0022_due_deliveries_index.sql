-- Finds the deliveries of a webhook that are due, those of bulk work apart from others. It replaces three indexes: where several begin with
-- the same columns, PostgreSQL chooses the wrong one before the table's first statistics.
-- without a transaction

create index concurrently if not exists webhook_delivery_due
    on webhook_delivery (project_id, webhook_id, bulk, next_attempt_at)
 where status = 'PENDING';
