-- without a transaction

drop index concurrently if exists customer_order_project_customer;
