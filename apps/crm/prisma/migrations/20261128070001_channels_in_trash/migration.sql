-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY channels_in_trash ON tenant_crm.channels (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
