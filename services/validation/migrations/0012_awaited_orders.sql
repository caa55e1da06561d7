-- The process that waits for a claimed order, and until when it has the next turn (services/decisions/0028).
-- NULL if none waits.
alter table shop_order add column awaited_process integer;
alter table shop_order add column awaited_until timestamptz;
