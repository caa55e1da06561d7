-- Vouchers of campaigns. What a voucher keeps of its campaign never changes there: the name, the kind.
-- What may change is copied into the voucher's own columns, and copied again while it is still neither
-- published nor redeemed.

alter table voucher add column campaign_name text;
alter table voucher add column campaign_type text;
-- How long it can be used once it is published: an ISO 8601 duration.
alter table voucher add column activity_duration text;

create index voucher_project_campaign on voucher (project_id, campaign_id, id)
  where campaign_id is not null;
create index voucher_project_campaign_name on voucher (project_id, campaign_name, id)
  where campaign_name is not null;
