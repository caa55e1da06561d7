-- Publications: which customer got which voucher, and what is needed of a campaign to publish from it.

-- How often the voucher was published, and what was said about it then: parts of the definition, since
-- decisions read them.
alter table voucher add column publish_count bigint not null default 0;
alter table voucher add column publication_metadata jsonb;

-- What a publication may take from a campaign, oldest first: the ones before are no longer in it.
create index voucher_project_campaign_unpublished
  on voucher (project_id, campaign_id, created_at, id)
  where campaign_id is not null and publish_count = 0 and deleted_at is null;
create index voucher_project_holder on voucher (project_id, holder_id, id)
  where holder_id is not null;

-- What campaigns have told about themselves. Nobody may ask them: calls go the other way.
create table voucher_campaign (
  project_id  text    not null,
  campaign_id text    not null,
  name        text    not null,
  type        text    not null,
  join_once   boolean not null,
  -- scrip.voucher.v1.CampaignVoucherItem in its binary form: a voucher as the campaign would make it
  -- now. Null unless publications may make some.
  template    bytea,

  primary key (project_id, campaign_id)
);

-- Not unique: a campaign that could not be made after all may have been told of.
create index voucher_campaign_project_name on voucher_campaign (project_id, name, campaign_id);

insert into voucher_campaign (project_id, campaign_id, name, type, join_once)
select distinct on (project_id, campaign_id)
       project_id, campaign_id, campaign_name, campaign_type, campaign_type = 'LOYALTY_PROGRAM'
  from voucher
 where campaign_id is not null and campaign_name is not null and campaign_type is not null
 order by project_id, campaign_id;

-- Somebody who joins a campaign once holds this row while it is decided whether that was before.
create table campaign_customer (
  project_id  text not null,
  campaign_id text not null,
  customer_id text not null,

  primary key (project_id, campaign_id, customer_id)
);

-- Also of what was refused. The voucher's and the campaign's columns repeat what never changes there.
create table publication (
  project_id       text        not null,
  id               text        not null,
  created_at       timestamptz not null,
  customer_id      text        not null,
  -- The customer's source id.
  tracking_id      text,
  metadata         jsonb       not null,
  channel          text        not null,
  source_id        text,
  result           text        not null,
  campaign_id      text,
  campaign_name    text,
  voucher_type     text        not null,
  is_referral_code boolean     not null,
  -- Of the first voucher, to sort by.
  voucher_code     text,
  failure_code     text,
  failure_message  text,
  request_id       text        not null,

  primary key (project_id, id),
  constraint publication_result_known check (result in ('SUCCESS', 'FAILURE')),
  constraint publication_failure_has_a_code
    check ((failure_code is not null) = (result = 'FAILURE'))
);

create unique index publication_once_per_source
  on publication (project_id, source_id) where source_id is not null and result = 'SUCCESS';
create index publication_project_created_at on publication (project_id, created_at, id);
create index publication_project_customer on publication (project_id, customer_id, created_at);
create index publication_project_campaign on publication (project_id, campaign_id, created_at)
  where campaign_id is not null;

create table publication_voucher (
  project_id     text not null,
  publication_id text not null,
  position       int  not null,
  voucher_id     text not null,

  primary key (project_id, publication_id, position)
);

create index publication_voucher_project_voucher
  on publication_voucher (project_id, voucher_id, publication_id);

create table redeemable_holder (
  project_id     text        not null,
  id             text        not null,
  voucher_id     text        not null,
  customer_id    text        not null,
  role           text        not null,
  campaign_id    text,
  campaign_type  text,
  voucher_type   text        not null,
  metadata       jsonb       not null,
  publication_id text        not null,
  created_at     timestamptz not null,

  primary key (project_id, id),
  constraint redeemable_holder_role_known check (role in ('OWNER', 'REFERRER', 'REFEREE'))
);

-- The last line of defence behind domain/publication.ts: one code is never two customers'.
create unique index redeemable_holder_once
  on redeemable_holder (project_id, voucher_id) where role <> 'REFEREE';
create index redeemable_holder_project_customer on redeemable_holder (project_id, customer_id, id);
