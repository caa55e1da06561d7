-- Indexes over redemptions without what a page can sort or a predicate can say: the id behind the time, and the status
-- between the key and the time. A column of text takes 16 to 24 bytes of an entry.
-- without a transaction

create index concurrently if not exists redemption_created_at on redemption (project_id, created_at);
create index concurrently if not exists redemption_customer_created_at
  on redemption ((md5(project_id || ' ' || customer_id)::uuid), created_at)
  where customer_id is not null;
create index concurrently if not exists redemption_voucher_succeeded
  on redemption ((md5(project_id || ' ' || voucher_id)::uuid), created_at)
  where voucher_id is not null and status = 'SUCCEEDED';
create index concurrently if not exists redemption_voucher_others
  on redemption ((md5(project_id || ' ' || voucher_id)::uuid), created_at)
  where voucher_id is not null and status <> 'SUCCEEDED';
