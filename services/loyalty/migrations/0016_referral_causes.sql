-- A conversion is caused by a redemption, an order or a custom event, whose id is in `redemption_id`.
alter table referral add column related_object_type text not null default 'redemption';
