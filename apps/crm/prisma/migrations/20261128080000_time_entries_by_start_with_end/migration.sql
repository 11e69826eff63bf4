-- With the columns that summaries read: they add up the time between start and end.
CREATE INDEX CONCURRENTLY time_entries_by_start_with_end ON tenant_crm.time_entries (tenant_id, started_at, id)
  INCLUDE (user_id, project_id, minutes, ended_at, billable)
  WHERE deleted_at IS NULL;
