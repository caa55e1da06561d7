-- The customer who had the order before its last change, if that was another one: their segments are evaluated too.
alter table customer_order add column previous_customer_id text;
