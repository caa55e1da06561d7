-- Adjustments of gift balances: entries without a redemption can carry their origin and what the request said.
-- `total_after` is the voucher's amount after the entry; null where the balance or the redemption tells it.
alter table voucher_ledger_entry
  add column source      text,
  add column source_id   text,
  add column reason      text,
  add column total_after bigint;
