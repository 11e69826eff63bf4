-- The same for the entries of one user.
CREATE INDEX CONCURRENTLY time_entries_by_user_with_end ON tenant_crm.time_entries (tenant_id, user_id, started_at, id)
  INCLUDE (project_id, minutes, ended_at, billable)
  WHERE deleted_at IS NULL;
