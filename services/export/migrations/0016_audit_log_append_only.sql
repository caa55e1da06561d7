-- `migrate` grants the role of the service SELECT and INSERT only on tables with this comment, and on their partitions.
comment on table audit_entry is 'append-only';
