-- Replicas of what points need of other services: loyalty programs (topic scrip.campaigns.v1) and who holds which card
-- (topic scrip.vouchers.v1).

create table loyalty_program (
  project_id       text        not null,
  id               text        not null,
  name             text        not null,
  active           boolean     not null,
  auto_join        boolean     not null,
  -- Time limits, as in @scrip/rules.
  validity         jsonb       not null,
  -- When points expire; null: never.
  expiration_rules jsonb,
  tiers_expiration jsonb,
  -- Points that a card starts with.
  initial_points   bigint      not null,
  deleted          boolean     not null default false,
  primary key (project_id, id)
);

create table loyalty_member (
  project_id     text        not null,
  -- Of the voucher.
  card_id        text        not null,
  -- Null for a card outside programs.
  campaign_id    text,
  customer_id    text        not null,
  initial_points bigint      not null,
  joined_at      timestamptz not null,
  primary key (project_id, card_id)
);

create index loyalty_member_project_customer on loyalty_member (project_id, customer_id);
create index loyalty_member_project_campaign on loyalty_member (project_id, campaign_id, card_id);
