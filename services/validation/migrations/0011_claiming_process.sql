-- The process that holds a claim (services/decisions/0036): while it lives, one of its connections holds the
-- shared advisory lock of this number. NULL in claims of releases before.
alter table shop_order add column claimed_process integer;
alter table session_claim add column claimed_process integer;
