-- Whether the pending points of an order are canceled with the order (docs/earning.md#pending-points).
alter table project add column cancel_pending_points_on_order_cancel boolean not null default false;

-- Orders that became CANCELED after their payment, in projects with that setting. An accrual that comes later than the
-- cancellation of its order adds no pending points.
create table canceled_order (
  project_id text        not null,
  order_id   text        not null,
  created_at timestamptz not null default now(),
  primary key (project_id, order_id)
);

create index canceled_order_created_at on canceled_order (created_at);
