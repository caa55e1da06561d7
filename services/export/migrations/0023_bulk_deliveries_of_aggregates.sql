-- Finds the deliveries of bulk work that are to be sent before a later one of the same aggregate.
-- without a transaction

create index concurrently if not exists webhook_delivery_bulk_aggregate
    on webhook_delivery (project_id, webhook_id, aggregate_id, sequence)
 where status = 'PENDING' and bulk;
