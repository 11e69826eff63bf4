-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY projects_in_trash ON tenant_crm.projects (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
