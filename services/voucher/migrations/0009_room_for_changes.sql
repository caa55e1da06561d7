-- A change of a campaign writes each of its vouchers anew. With room for that on their own pages none of
-- the indexes has to learn of it, which is most of the work.
alter table voucher set (fillfactor = 50);
