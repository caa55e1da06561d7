-- What summaries of campaigns count: rollbacks and referees of a campaign, which are few.
create index redemption_rollback_of_campaign
  on redemption_rollback ((project_id || ' ' || campaign_id), status, created_at)
  where campaign_id is not null;
create index referral_conversion_project_campaign
  on referral_conversion (project_id, campaign_id, referee_id);
