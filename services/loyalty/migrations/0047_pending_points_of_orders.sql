-- The pending points of an order, which are canceled with it.
-- without a transaction

create index concurrently if not exists pending_points_of_order on pending_points (project_id, order_id)
 where status = 'PENDING';
