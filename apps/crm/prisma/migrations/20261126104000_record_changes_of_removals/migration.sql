-- The deletions for good of records whose key is not their id, by the key: the history has it as the last value of a field.
CREATE INDEX CONCURRENTLY record_changes_of_removals ON tenant_crm.record_changes (
  tenant_id, table_name, (coalesce(changes -> 'user_id' ->> 0, changes -> 'bot_id' ->> 0)), changed_at
) WHERE action = 'delete' AND coalesce(changes -> 'user_id' ->> 0, changes -> 'bot_id' ->> 0) IS NOT NULL;
