-- A deleted campaign is hidden; its name stays reserved until the row is removed for good.
alter table campaign add column deleted_at timestamptz;

-- Work on the vouchers of a campaign, which the export service carries out slice by slice.
create table campaign_job (
  project_id  text        not null,
  id          text        not null,
  campaign_id text        not null,
  type        text        not null,
  -- The request in binary form; null where the campaign says it all.
  request     bytea,
  -- Deletions: also frees names and codes.
  permanent   boolean     not null default false,
  total       bigint      not null,
  done        bigint      not null default 0,
  -- The last voucher that was handled; generations count `done` instead.
  position    text        not null default '',
  status      text        not null default 'PENDING',
  created_at  timestamptz not null,

  primary key (project_id, id),
  constraint campaign_job_type_known check (type in ('GENERATE', 'UPDATE', 'DELETE')),
  constraint campaign_job_status_known check (status in ('PENDING', 'DONE', 'FAILED')),
  constraint campaign_job_counts_from_zero check (total >= 0 and done >= 0)
);
create index campaign_job_pending on campaign_job (project_id, campaign_id, id) where status = 'PENDING';

-- What was deleted without `force`, until it is removed for good.
create table bin_entry (
  project_id         text        not null,
  id                 text        not null,
  resource_id        text        not null,
  resource_type      text        not null,
  resource_name      text,
  resource_parent_id text,
  created_at         timestamptz not null,

  primary key (project_id, id),
  constraint bin_entry_type_known check (resource_type in ('campaign', 'voucher', 'product', 'sku'))
);
create unique index bin_entry_project_resource on bin_entry (project_id, resource_id);
create index bin_entry_project_parent on bin_entry (project_id, resource_parent_id) where resource_parent_id is not null;
