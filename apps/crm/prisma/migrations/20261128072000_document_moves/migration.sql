-- The moves and versions of a document, which decide who sees its former versions.
CREATE INDEX CONCURRENTLY record_changes_of_document_moves
  ON tenant_crm.record_changes (tenant_id, record_id, changed_at)
  WHERE table_name = 'documents' AND (jsonb_exists(changes, 'folder_id') OR jsonb_exists(changes, 'current_version'));
