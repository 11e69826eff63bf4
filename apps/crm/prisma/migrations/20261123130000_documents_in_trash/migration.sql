-- The trash: what was deleted with a folder is restored with it and is not listed.
CREATE INDEX CONCURRENTLY documents_in_trash ON tenant_crm.documents (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL AND deleted_with IS NULL;
