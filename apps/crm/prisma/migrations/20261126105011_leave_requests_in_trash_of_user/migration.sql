-- The trash of callers who see only their own.
CREATE INDEX CONCURRENTLY leave_requests_in_trash_of_user ON tenant_crm.leave_requests (tenant_id, user_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
