-- The version of the project that the starting request has seen. Null for jobs of earlier releases.
alter table job add column project_version bigint;
