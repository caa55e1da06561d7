-- Transactions of a campaign are listed by time, without its vouchers.
alter table voucher_ledger_entry add column campaign_id text;

-- Processes of the release before write entries without it. The next release drops the trigger. The range makes sure that
-- a plan from a time with few vouchers uses the index as well.
create function set_campaign_of_ledger_entry() returns trigger language plpgsql as $$
begin
  select v.campaign_id
    into new.campaign_id
    from voucher v
   where v.project_id = new.project_id and v.id between new.voucher_id and new.voucher_id
   order by v.id
   limit 1;
  return new;
end $$;

create trigger voucher_ledger_entry_campaign
  before insert on voucher_ledger_entry
  for each row when (new.campaign_id is null) execute function set_campaign_of_ledger_entry();
