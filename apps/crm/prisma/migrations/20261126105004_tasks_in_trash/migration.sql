-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY tasks_in_trash ON tenant_crm.tasks (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
