-- Lists of a campaign's vouchers, newest first, and their number. In a project with millions of newer vouchers, the index of
-- all vouchers would be read up to those of the campaign, and counting them would read the table.
-- Campaigns descend, because the search for unpublished vouchers, which are sorted by campaign, must find no other index.
-- without a transaction

create index concurrently if not exists voucher_project_campaign_created_at
    on voucher (project_id, campaign_id desc, created_at, id)
 where campaign_id is not null and deleted_at is null;
