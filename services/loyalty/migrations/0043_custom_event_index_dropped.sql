-- without a transaction

drop index concurrently if exists custom_event_project_customer;
