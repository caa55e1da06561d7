-- Whether an automatic redemption holds the points: tiers by balance do not count them.
alter table points_spend add column automatic boolean not null default false;
