-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY webhook_endpoints_in_trash ON tenant_crm.webhook_endpoints (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
