-- Milliseconds that slices took. Null until the first checkpoint, and for jobs of earlier releases.
alter table job add column processing_ms bigint;
