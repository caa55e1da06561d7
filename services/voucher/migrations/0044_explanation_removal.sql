-- How far the job that removes old explanations has come in each project (services/voucher/src/store/explanations.ts).
create table explanation_removal (
  project_id text not null primary key,
  -- Part of an id after its prefix, which begins with the time. Older redemptions have no explanation any more.
  removed_to text not null
);
