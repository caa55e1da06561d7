-- The custom events of a customer by their name, which segments count.
-- without a transaction

create index concurrently if not exists custom_event_of_customer on custom_event (project_id, customer_id, name);
