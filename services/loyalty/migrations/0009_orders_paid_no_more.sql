-- Orders that are paid no more are kept as such, so that an event of their payment that comes late does not
-- count them again.

alter table customer_order add column paid boolean not null default true;

drop index customer_order_project_customer;
create index customer_order_project_customer
  on customer_order (project_id, customer_id, changed_at) include (amount, paid);
