-- Indexes over redemptions whose keys are 16 bytes, instead of 45 to 75 characters of ids. Those with the customer serve
-- counts, which need successful redemptions only.
-- without a transaction

drop index concurrently if exists redemption_voucher;
create index concurrently redemption_voucher
  on redemption ((md5(project_id || ' ' || voucher_id)::uuid), status, created_at)
  where voucher_id is not null;
drop index concurrently if exists redemption_voucher_customer;
create index concurrently redemption_voucher_customer
  on redemption ((md5(project_id || ' ' || voucher_id || ' ' || customer_id)::uuid), created_at)
  where voucher_id is not null and customer_id is not null and status = 'SUCCEEDED';
drop index concurrently if exists redemption_customer;
create index concurrently redemption_customer
  on redemption ((md5(project_id || ' ' || customer_id)::uuid), created_at, id)
  where customer_id is not null;

drop index concurrently if exists redemption_campaign;
create index concurrently redemption_campaign
  on redemption ((md5(project_id || ' ' || campaign_id)::uuid), status, created_at)
  where campaign_id is not null;
drop index concurrently if exists redemption_campaign_customer;
create index concurrently redemption_campaign_customer
  on redemption ((md5(project_id || ' ' || campaign_id || ' ' || customer_id)::uuid), created_at)
  where campaign_id is not null and customer_id is not null and status = 'SUCCEEDED';
drop index concurrently if exists redemption_tier;
create index concurrently redemption_tier
  on redemption ((md5(project_id || ' ' || promotion_tier_id)::uuid), status, created_at)
  where promotion_tier_id is not null;
drop index concurrently if exists redemption_tier_customer;
create index concurrently redemption_tier_customer
  on redemption ((md5(project_id || ' ' || promotion_tier_id || ' ' || customer_id)::uuid), created_at)
  where promotion_tier_id is not null and customer_id is not null and status = 'SUCCEEDED';
drop index concurrently if exists redemption_rollback_campaign;
create index concurrently redemption_rollback_campaign
  on redemption_rollback ((md5(project_id || ' ' || campaign_id)::uuid), status, created_at)
  where campaign_id is not null;
