-- When the webhook was deleted; it exists until its deliveries are deleted in parts. Null: it is not.
alter table webhook add column deleted_at timestamptz;
