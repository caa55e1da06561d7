-- Earning rules of loyalty programs, and replicas of the validation rules that they need (topic scrip.rules.v1).

create table earning_rule (
  project_id         text        not null,
  id                 text        not null,
  campaign_id        text        not null,
  event              text        not null,
  schema_id          text,
  segment_id         text,
  tier_id            text,
  validation_rule_id text,
  -- How many points are earned, when they are active and when they expire.
  definition         jsonb       not null,
  active             boolean     not null,
  metadata           jsonb       not null,
  created_at         timestamptz not null,
  updated_at         timestamptz,
  primary key (project_id, id)
);

create index earning_rule_project_campaign on earning_rule (project_id, campaign_id, created_at, id);

create table validation_rule (
  project_id text        not null,
  id         text        not null,
  -- Conditions by number, and their logic; null once the rule is deleted.
  rules      jsonb,
  changed_at timestamptz not null,
  primary key (project_id, id)
);
