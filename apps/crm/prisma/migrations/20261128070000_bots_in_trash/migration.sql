-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY bots_in_trash ON tenant_crm.bots (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
