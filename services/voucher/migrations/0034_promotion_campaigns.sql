-- Names of promotion campaigns, for filters and exports of redemptions: other campaigns store theirs with their vouchers.
create table promotion_campaign (
  project_id text not null,
  campaign_id text not null,
  name text not null,
  constraint promotion_campaign_pkey primary key (project_id, campaign_id)
);
