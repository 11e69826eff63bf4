-- The index time_entries_by_project_and_user begins with the same columns.
DROP INDEX CONCURRENTLY tenant_crm.time_entries_project_id_fkey_idx;
