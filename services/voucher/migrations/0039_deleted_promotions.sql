-- A publication from a promotion is rejected with its reason, one from a deleted promotion as unknown.
alter table promotion_campaign add column deleted boolean not null default false;
