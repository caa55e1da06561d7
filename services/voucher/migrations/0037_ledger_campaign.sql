-- Transactions of a campaign are listed by time, without its vouchers.
alter table voucher_ledger_entry add column campaign_id text;

update voucher_ledger_entry l
   set campaign_id = v.campaign_id
  from voucher v
 where v.project_id = l.project_id and v.id = l.voucher_id and v.campaign_id is not null;
