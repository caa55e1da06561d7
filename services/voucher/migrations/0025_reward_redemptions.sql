-- What redemptions of MATERIAL and CAMPAIGN rewards still owe: written with the redemption, completed once.
create table reward_redemption (
  project_id      text        not null,
  redemption_id   text        not null,
  type            text        not null,
  customer_id     text        not null,
  -- Number of rewards.
  quantity        bigint      not null,
  -- CAMPAIGN rewards: the campaign whose voucher is published or credited.
  campaign_id     text,
  -- Points or credits of one reward; null: a voucher is published.
  amount          bigint,
  status          text        not null default 'PENDING',
  attempts        int         not null default 0,
  -- When a voucher is to be published, credited, or disabled after a rollback.
  next_attempt_at timestamptz,
  -- Why the last attempt failed.
  reason          text,
  -- Time of the redemption, which is that of the sandbox clock in a sandbox project.
  created_at      timestamptz not null,
  -- Real time, which ends the attempts.
  recorded_at     timestamptz not null default now(),
  completed_at    timestamptz,
  -- Whether responses to the redemption show the reward as given. The first one decides; null: there was none.
  shown_as_given  boolean,
  -- The first voucher that was published, or the one that was credited.
  voucher_id      text,
  -- Gift credits: the entry in the ledger of the voucher.
  ledger_version  bigint,

  primary key (project_id, redemption_id),
  constraint reward_redemption_type_known check (type in ('CAMPAIGN', 'MATERIAL')),
  constraint reward_redemption_status_known check (status in ('PENDING', 'COMPLETED', 'ROLLED_BACK', 'FAILED')),
  constraint reward_redemption_positive check (quantity > 0 and amount > 0),
  constraint reward_redemption_of_a_campaign check ((campaign_id is not null) = (type = 'CAMPAIGN')),
  constraint reward_redemption_completed check ((completed_at is not null) or status <> 'COMPLETED')
);

create index reward_redemption_due on reward_redemption (next_attempt_at) where next_attempt_at is not null;
