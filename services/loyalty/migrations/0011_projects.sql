-- Replica of the gateway's projects (topic scrip.projects.v1). Only the latest version of each is stored.
create table project (
  project_id           text        not null primary key,
  version              bigint      not null,
  deleted              boolean     not null,
  time_zone            text        not null,
  first_weekday        smallint    not null,
  case_sensitive_codes boolean     not null,
  default_code_config  text,
  sandbox_now          timestamptz
);
