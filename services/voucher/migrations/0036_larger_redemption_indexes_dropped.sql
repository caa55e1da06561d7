-- contract 0035
-- Programs before 0035 would count all redemptions of a voucher without these indexes. None of them was released, so the
-- indexes need not remain for a release.
-- without a transaction

drop index concurrently if exists redemption_project_created_at;
drop index concurrently if exists redemption_customer;
drop index concurrently if exists redemption_voucher;
