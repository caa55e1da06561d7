-- Each kind of lookup has an index with a key of its own, made of the project and of what is looked
-- for, so that no other index fits. Indexes that all begin with the project fit each lookup somehow,
-- and while the planner knows little of the table it takes any of them: one that reads all of a
-- campaign to find one customer makes a batch of redemptions last for seconds.

drop index redemption_project_voucher_status_created_at;
drop index redemption_project_customer_voucher_created_at;
drop index redemption_project_campaign_status_created_at;
drop index redemption_project_campaign_customer_created_at;
drop index redemption_project_tier_created_at;
drop index redemption_project_tier_customer_created_at;

-- The status comes before the time: what counts is then one range, however many attempts failed.
create index redemption_of_voucher
  on redemption ((project_id || ' ' || voucher_id), status, created_at, id)
  where voucher_id is not null;
create index redemption_of_campaign
  on redemption ((project_id || ' ' || campaign_id), status, created_at)
  where campaign_id is not null;
create index redemption_of_tier
  on redemption ((project_id || ' ' || promotion_tier_id), status, created_at)
  where promotion_tier_id is not null;

-- What anonymous customers redeem is in none of these.
create index redemption_of_customer
  on redemption ((project_id || ' ' || customer_id), created_at, id)
  where customer_id is not null;
create index redemption_of_voucher_and_customer
  on redemption ((project_id || ' ' || voucher_id || ' ' || customer_id), status, created_at)
  where voucher_id is not null and customer_id is not null;
create index redemption_of_campaign_and_customer
  on redemption ((project_id || ' ' || campaign_id || ' ' || customer_id), status, created_at)
  where campaign_id is not null and customer_id is not null;
create index redemption_of_tier_and_customer
  on redemption ((project_id || ' ' || promotion_tier_id || ' ' || customer_id), status, created_at)
  where promotion_tier_id is not null and customer_id is not null;
