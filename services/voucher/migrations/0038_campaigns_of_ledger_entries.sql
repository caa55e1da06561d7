-- Apart from the column, whose transaction locks the table: every redemption names the table in its statement, and would
-- wait until all entries are updated.
update voucher_ledger_entry l
   set campaign_id = v.campaign_id
  from voucher v
 where l.campaign_id is null
   and v.project_id = l.project_id and v.id = l.voucher_id and v.campaign_id is not null;
