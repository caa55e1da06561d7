-- `webhook_delivery_due` replaces it.
-- without a transaction

drop index concurrently if exists webhook_delivery_ordinary;
