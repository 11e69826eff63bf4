-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY pages_in_trash ON tenant_crm.pages (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL AND deleted_with IS NULL;
