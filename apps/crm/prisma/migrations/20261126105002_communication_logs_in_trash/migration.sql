-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY communication_logs_in_trash ON tenant_crm.communication_logs (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
