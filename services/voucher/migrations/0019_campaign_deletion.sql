-- A deleted campaign: publications create no more vouchers of it, and nothing adds any.
alter table voucher_campaign add column deleted_at timestamptz;
