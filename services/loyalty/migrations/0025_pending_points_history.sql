-- What the pending points of an entry were at any time: its changes, as [{"at": epoch milliseconds, "points": difference}].
-- Entries that ended before this migration have none; they ended at updated_at.
alter table pending_points add column changes jsonb not null default '[]';
