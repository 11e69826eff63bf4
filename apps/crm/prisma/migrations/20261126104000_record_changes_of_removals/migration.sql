-- The deletions for good of records whose key is not their id: they have the key and the parent.
CREATE INDEX CONCURRENTLY record_changes_of_removals ON tenant_crm.record_changes (tenant_id, table_name, changed_at)
  WHERE action = 'delete' AND changes <> '{}';
