-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY contacts_in_trash ON tenant_crm.contacts (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
