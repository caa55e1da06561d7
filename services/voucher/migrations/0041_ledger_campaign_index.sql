-- without a transaction

create index concurrently if not exists voucher_ledger_entry_campaign_created_at
  on voucher_ledger_entry (project_id, campaign_id, created_at, voucher_id, version)
  where campaign_id is not null;
