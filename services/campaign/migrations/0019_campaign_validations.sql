-- Validations of the vouchers and tiers of a campaign, by days in the time zone of the project, counted from events.

create table campaign_validation (
  project_id  text   not null,
  campaign_id text   not null,
  day         date   not null,
  succeeded   bigint not null,
  failed      bigint not null,

  primary key (project_id, campaign_id, day),
  constraint campaign_validation_of_a_campaign
    foreign key (project_id, campaign_id) references campaign (project_id, id) on delete cascade,
  constraint campaign_validation_counts_from_zero check (succeeded >= 0 and failed >= 0)
);
