-- Rewards that are redeemed without a request. A hold of them may be for several rewards.
alter table points_spend add column quantity bigint not null default 1;

-- Automatic redemptions of a customer on a date of the project's calendar.
create table auto_redemption (
  project_id  text   not null,
  customer_id text   not null,
  date        date   not null,
  count       bigint not null,

  primary key (project_id, customer_id, date),
  constraint auto_redemption_bounded check (count between 1 and 10)
);

-- The last night that looked for rewards to redeem, and whether it found any: otherwise the nights after it find none
-- either, until points move.
create table auto_redeem_night (
  project_id text    not null,
  date       date    not null,
  redeemed   boolean not null,

  primary key (project_id)
);
