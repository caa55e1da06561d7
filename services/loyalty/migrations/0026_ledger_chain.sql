-- Ledger entries are append-only and hash-chained per card (docs/gift-and-points.md#ledger).
--
-- Entries from before this migration have no hash. A job of the service adds them; so does the next change of their card.

alter table ledger_entry
  -- The hash of the entry before it; null for the first entry of a card.
  add column previous_hash bytea,
  add column hash bytea;

alter table loyalty_card
  -- The hash of the entry `chained_version`, which is the last entry unless later ones have no hash yet.
  add column ledger_hash bytea,
  add column chained_version bigint not null default 0;

create function reject_ledger_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.hash is null and new.hash is not null then
    declare
      unchained ledger_entry := new;
    begin
      unchained.hash := null;
      unchained.previous_hash := null;
      if unchained is not distinct from old then
        return new;
      end if;
    end;
  end if;
  raise exception 'ledger entries are append-only' using errcode = 'restrict_violation';
end
$$;

create trigger ledger_entry_append_only
  before update or delete on ledger_entry
  for each row execute function reject_ledger_change();

create trigger ledger_entry_not_truncated
  before truncate on ledger_entry
  for each statement execute function reject_ledger_change();
