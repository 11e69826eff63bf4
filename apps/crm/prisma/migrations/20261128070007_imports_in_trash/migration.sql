-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY imports_in_trash ON tenant_crm.imports (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
