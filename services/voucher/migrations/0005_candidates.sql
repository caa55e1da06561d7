-- What qualifications look through, newest first: codes that are anybody's, and those of one customer.

create index voucher_project_standalone on voucher (project_id, created_at, id)
  where campaign_id is null and holder_id is null and deleted_at is null;
create index voucher_project_holder_created_at on voucher (project_id, holder_id, created_at, id)
  where holder_id is not null and deleted_at is null;
