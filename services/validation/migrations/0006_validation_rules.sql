-- Validation rules, and the objects that can only be used when one is met. Objects belong to other
-- services: a rule may be assigned to one that is about to be made, and an assignment may outlive its
-- object, which harms nothing.

create table validation_rule (
  project_id    text        not null,
  id            text        not null,
  name          text        not null,
  type          text        not null,
  context_type  text        not null,
  rules         jsonb       not null,
  bundle_rules  jsonb,
  applicable_to jsonb,
  -- The merchant's own words for those who do not meet it.
  error_message text,
  created_at    timestamptz not null,
  updated_at    timestamptz,

  primary key (project_id, id)
);

create index validation_rule_project_created_at on validation_rule (project_id, created_at, id);

create table validation_rule_assignment (
  project_id  text        not null,
  id          text        not null,
  rule_id     text        not null,
  object_type text        not null,
  -- Its prefix says the type too, so ids of different types never meet.
  object_id   text        not null,
  created_at  timestamptz not null,

  primary key (project_id, id),
  foreign key (project_id, rule_id) references validation_rule (project_id, id)
);

-- Read by every decision: the rules of what is to be used.
create unique index validation_rule_assignment_project_object_rule
    on validation_rule_assignment (project_id, object_id, rule_id);

-- A campaign has one rule at most.
create unique index validation_rule_assignment_project_campaign
    on validation_rule_assignment (project_id, object_id) where object_type = 'campaign';

create index validation_rule_assignment_project_rule
    on validation_rule_assignment (project_id, rule_id, created_at, id);
create index validation_rule_assignment_project_created_at
    on validation_rule_assignment (project_id, created_at, id);
