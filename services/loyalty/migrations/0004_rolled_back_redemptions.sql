-- Customers' summaries also count what was refused and what was rolled back.

alter table customer_redemptions
  add column failed             bigint not null default 0,
  add column rolled_back        bigint not null default 0,
  add column rollbacks_refused  bigint not null default 0,
  -- Credits are taken off when they are given back; events of different vouchers come in no order.
  drop constraint customer_redemptions_not_negative,
  add constraint customer_redemptions_not_negative
    check (succeeded >= 0 and failed >= 0 and rolled_back >= 0 and rollbacks_refused >= 0);
