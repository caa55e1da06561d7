-- The rest of a customer's profile, the way to list customers, and what is counted about them.

alter table customer add column birthdate date;
alter table customer add column city text;
alter table customer add column state text;
alter table customer add column line_1 text;
alter table customer add column line_2 text;
alter table customer add column postal_code text;

-- There is none on updated_at: a change that a redemption brings then touches no index at all.
create index customer_project_created_at on customer (project_id, created_at, id);
-- Customers that a redemption makes have none of these, and then cost nothing here.
create index customer_project_email on customer (project_id, email) where email is not null;
create index customer_project_name on customer (project_id, name) where name is not null;
create index customer_project_city on customer (project_id, city) where city is not null;

-- Room for the new version of a row beside the old one.
alter table customer set (fillfactor = 85);

-- Of the redemptions whose events have arrived.
create table customer_redemptions (
  project_id  text   not null,
  customer_id text   not null,
  succeeded   bigint not null default 0,
  -- Credits that were taken from gift vouchers, in minor units.
  gift_amount bigint not null default 0,

  primary key (project_id, customer_id),
  constraint customer_redemptions_of_customer
    foreign key (project_id, customer_id) references customer on delete cascade,
  constraint customer_redemptions_not_negative check (succeeded >= 0 and gift_amount >= 0)
) with (fillfactor = 80);

-- The orders of a customer that are PAID or FULFILLED, each with its newest amount.
create table customer_order (
  project_id  text        not null,
  order_id    text        not null,
  customer_id text        not null,
  amount      bigint      not null,
  changed_at  timestamptz not null,

  primary key (project_id, order_id),
  constraint customer_order_of_customer
    foreign key (project_id, customer_id) references customer on delete cascade,
  constraint customer_order_amount_not_negative check (amount >= 0)
);

-- Answers sums without reading the table.
create index customer_order_project_customer
  on customer_order (project_id, customer_id, changed_at) include (amount);

-- Events that were handled, so that a repeat is not.
create table inbox (
  project_id text        not null,
  consumer   text        not null,
  event_id   text        not null,
  seen_at    timestamptz not null default clock_timestamp(),

  primary key (project_id, consumer, event_id)
);

create index inbox_seen_at on inbox (seen_at);
