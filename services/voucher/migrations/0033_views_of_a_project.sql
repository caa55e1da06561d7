-- The indexes of redemptions are over hashes of ids. The policies of a table are evaluated before conditions with
-- functions that might reveal rows, such as these hashes, so a list of the redemptions of a customer or a campaign would
-- not use the indexes. These views belong to the owner of the tables, whom policies do not apply to, and contain the rows
-- of the project of the transaction. They are for lists only; without the setting they are empty.

create view redemption_of_project as
select project_id, id, parent_id, voucher_id, promotion_tier_id, campaign_id, customer_id, created_at, status, amount,
       tracking_id, metadata, channel_id, channel_type, failure_code, failure_message
  from redemption
 where project_id = current_setting('scrip.project', true);

create view redemption_rollback_of_project as
select project_id, id, redemption_id, voucher_id, promotion_tier_id, campaign_id, customer_id, created_at, status, amount,
       tracking_id, metadata, channel_id, channel_type, failure_code, failure_message, reason
  from redemption_rollback
 where project_id = current_setting('scrip.project', true);
