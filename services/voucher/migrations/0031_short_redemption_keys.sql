-- Indexes over redemptions whose keys are 16 bytes, instead of 45 to 75 characters of ids. Those with the customer serve
-- counts, which need successful redemptions only.
-- without a transaction

create index concurrently if not exists redemption_voucher
  on redemption ((md5(project_id || ' ' || voucher_id)::uuid), status, created_at)
  where voucher_id is not null;
create index concurrently if not exists redemption_voucher_customer
  on redemption ((md5(project_id || ' ' || voucher_id || ' ' || customer_id)::uuid), created_at)
  where voucher_id is not null and customer_id is not null and status = 'SUCCEEDED';
create index concurrently if not exists redemption_customer
  on redemption ((md5(project_id || ' ' || customer_id)::uuid), created_at, id)
  where customer_id is not null;

create index concurrently if not exists redemption_campaign
  on redemption ((md5(project_id || ' ' || campaign_id)::uuid), status, created_at)
  where campaign_id is not null;
create index concurrently if not exists redemption_campaign_customer
  on redemption ((md5(project_id || ' ' || campaign_id || ' ' || customer_id)::uuid), created_at)
  where campaign_id is not null and customer_id is not null and status = 'SUCCEEDED';
create index concurrently if not exists redemption_tier
  on redemption ((md5(project_id || ' ' || promotion_tier_id)::uuid), status, created_at)
  where promotion_tier_id is not null;
create index concurrently if not exists redemption_tier_customer
  on redemption ((md5(project_id || ' ' || promotion_tier_id || ' ' || customer_id)::uuid), created_at)
  where promotion_tier_id is not null and customer_id is not null and status = 'SUCCEEDED';
create index concurrently if not exists redemption_rollback_campaign
  on redemption_rollback ((md5(project_id || ' ' || campaign_id)::uuid), status, created_at)
  where campaign_id is not null;
