-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY time_entries_in_trash ON tenant_crm.time_entries (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
