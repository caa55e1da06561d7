-- Whether the pending points of an order are canceled with the order (docs/earning.md#pending-points).
alter table project add column cancel_pending_points_on_order_cancel boolean not null default false;
