-- Orders. The document is the calculated order as scrip.common.v1.Order; the columns beside it are
-- what orders are found and listed by.
--
-- A row without a document is an order id that a redemption has claimed and not finished: it is not
-- an order yet, and after claimed_until another request may take it over.

create table shop_order (
  project_id    text        not null,
  id            text        not null,
  source_id     text,
  status        text,
  customer_id   text,
  document      bytea,
  claimed_by    text,
  claimed_until timestamptz,
  created_at    timestamptz not null,
  updated_at    timestamptz,
  primary key (project_id, id),
  constraint shop_order_source_id_length check (length(source_id) between 1 and 255),
  constraint shop_order_known_status check (status in ('CREATED', 'PAID', 'CANCELED', 'FULFILLED'))
);

create unique index shop_order_project_source_id on shop_order (project_id, source_id);
create index shop_order_project_created_at on shop_order (project_id, created_at);
