-- Imports into a campaign, from their request to their end: the campaign shows that vouchers are being added. The row of
-- an import that has ended stays for an hour, so that a late announcement does not begin it again.

create table campaign_import (
  project_id  text        not null,
  campaign_id text        not null,
  id          text        not null,
  ended_at    timestamptz,

  primary key (project_id, campaign_id, id),
  constraint campaign_import_of_a_campaign
    foreign key (project_id, campaign_id) references campaign (project_id, id) on delete cascade
);
