-- Customers who were deleted for good: an event that comes late must not bring an order of theirs back.

create table gone_customer (
  project_id  text        not null,
  customer_id text        not null,
  gone_at     timestamptz not null default now(),

  primary key (project_id, customer_id)
);
