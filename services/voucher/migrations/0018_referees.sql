-- Referees of a referral code are holders without a publication.
alter table redeemable_holder alter column publication_id drop not null;

-- A customer holds a voucher in one role; the index also finds the holders of a voucher.
create unique index redeemable_holder_customer_once
  on redeemable_holder (project_id, voucher_id, customer_id);
