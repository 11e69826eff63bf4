CREATE INDEX CONCURRENTLY document_folders_in_trash
  ON tenant_crm.document_folders (tenant_id, deleted_at, id)
  WHERE deleted_at IS NOT NULL AND deleted_with IS NULL;
