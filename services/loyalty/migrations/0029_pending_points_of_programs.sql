-- For summaries of programs, which also count entries that have ended.
create index pending_points_project_campaign on pending_points (project_id, campaign_id, id);
