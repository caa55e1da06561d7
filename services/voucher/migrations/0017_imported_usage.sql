-- What vouchers were used before they were imported. The counters of the usage include it, but no redemption shows it.
create table imported_usage (
  project_id        text   not null,
  voucher_id        text   not null,
  redeemed_quantity bigint not null,
  redeemed_amount   bigint not null,

  primary key (project_id, voucher_id),
  constraint imported_usage_not_negative check (redeemed_quantity >= 0 and redeemed_amount >= 0)
);
