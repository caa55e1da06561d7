-- What promotion tiers did, counted from the events of redemptions; amounts are minor units.

create table promotion_tier_usage (
  project_id        text   not null,
  tier_id           text   not null,
  redemptions       bigint not null,
  orders_amount     bigint not null,
  discounted_amount bigint not null,

  -- No bound below: the events of one redemption may come in any order, and one that was made before
  -- anything was counted can be rolled back.
  primary key (project_id, tier_id),
  constraint promotion_tier_usage_of_a_tier
    foreign key (project_id, tier_id) references promotion_tier (project_id, id) on delete cascade
);
