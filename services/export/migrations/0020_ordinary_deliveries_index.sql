-- Finds the deliveries that are sent first without reading those of bulk work.
-- without a transaction

create index concurrently if not exists webhook_delivery_ordinary
    on webhook_delivery (project_id, webhook_id, next_attempt_at)
 where status = 'PENDING' and not bulk;
