-- The running timer of a user.
CREATE INDEX CONCURRENTLY time_entries_running ON tenant_crm.time_entries (tenant_id, user_id) INCLUDE (project_id)
  WHERE ended_at IS NULL AND deleted_at IS NULL;
