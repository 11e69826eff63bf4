-- The trash: what was deleted, newest first.
CREATE INDEX CONCURRENTLY companies_in_trash ON tenant_crm.companies (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL;
