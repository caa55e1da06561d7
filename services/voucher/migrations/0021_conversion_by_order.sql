-- Whether paid orders convert the codes of the referral program: most projects have none, and skip their orders.
alter table voucher_campaign add column converts_orders boolean not null default false;
create index voucher_campaign_project_converts_orders
  on voucher_campaign (project_id, campaign_id) where converts_orders;
