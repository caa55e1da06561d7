-- The orders of a customer without what their rows say: entries of one customer share their key.
-- without a transaction

create index concurrently if not exists customer_order_of_customer on customer_order (project_id, customer_id);
