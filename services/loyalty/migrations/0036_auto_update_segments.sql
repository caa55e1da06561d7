-- Segments of the type auto-update are followed, whether an earning rule refers to them or not.
update segment
   set sync_status = 'IN_PROGRESS'
 where type = 'auto-update' and sync_status is null;
