-- How redeemables go together, where a project has set it. Options that are not in the document have
-- their defaults, so that a default can change for everybody who relies on it.

create table stacking_rules (
  project_id text        not null,
  id         text        not null,
  options    jsonb       not null,
  created_at timestamptz not null,
  updated_at timestamptz,

  -- One set for a project.
  primary key (project_id)
);

-- Counts the changes of what the processes remember: stacking rules, rules and their assignments.
create table definition_version (
  project_id text   not null primary key,
  version    bigint not null
);
