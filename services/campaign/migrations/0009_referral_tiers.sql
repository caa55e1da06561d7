-- What referrers get for a number of referees. The reward has the form of those of `campaign.referral_program`.
create table referral_tier (
  project_id     text        not null,
  id             text        not null,
  campaign_id    text        not null,
  name           text        not null,
  condition_type text        not null,
  count          bigint      not null,
  segment_id     text,
  reward         jsonb       not null,
  active         boolean     not null,
  created_at     timestamptz not null,
  updated_at     timestamptz,

  primary key (project_id, id),
  foreign key (project_id, campaign_id) references campaign (project_id, id) on delete cascade,
  constraint referral_tier_condition_known
    check (condition_type in ('EACH_UNIQUE_REFEREE', 'MINIMUM_UNIQUE_REFEREES')),
  constraint referral_tier_count_positive check (count > 0)
);

create index referral_tier_project_campaign on referral_tier (project_id, campaign_id, id);
