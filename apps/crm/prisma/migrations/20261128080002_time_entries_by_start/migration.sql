-- The index time_entries_by_start_with_end has the same columns, and those that it includes.
DROP INDEX CONCURRENTLY tenant_crm.time_entries_by_start;
