-- Pages of a card's ledger, by the ids of its entries; and of the rewards of a programme, newest first.

create index ledger_entry_project_card_id on ledger_entry (project_id, card_id, id);
create index reward_assignment_project_campaign
  on reward_assignment (project_id, campaign_id, created_at, id);
