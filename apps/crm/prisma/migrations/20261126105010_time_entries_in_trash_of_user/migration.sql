-- The trash of callers who see only their own.
CREATE INDEX CONCURRENTLY time_entries_in_trash_of_user ON tenant_crm.time_entries (tenant_id, user_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
