-- One row for each referral code and referee: their first redemption of the code.

create table referral (
  project_id    text        not null,
  voucher_id    text        not null,
  referee_id    text        not null,
  referrer_id   text        not null,
  campaign_id   text        not null,
  redemption_id text        not null,
  redeemed_at   timestamptz not null,

  primary key (project_id, voucher_id, referee_id)
);

create index referral_project_referee on referral (project_id, referee_id, redeemed_at);
create index referral_project_referrer on referral (project_id, referrer_id, campaign_id, referee_id);
