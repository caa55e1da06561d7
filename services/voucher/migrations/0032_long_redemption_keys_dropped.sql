-- contract 0031
-- Programs before 0031 would read all redemptions without these indexes. None of them was released, so the indexes need not
-- remain for a release.
-- without a transaction

drop index concurrently if exists redemption_of_voucher;
drop index concurrently if exists redemption_of_voucher_and_customer;
drop index concurrently if exists redemption_of_customer;
drop index concurrently if exists redemption_of_campaign;
drop index concurrently if exists redemption_of_campaign_and_customer;
drop index concurrently if exists redemption_of_tier;
drop index concurrently if exists redemption_of_tier_and_customer;
drop index concurrently if exists redemption_rollback_of_campaign;
