-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY leave_requests_in_trash ON tenant_crm.leave_requests (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
