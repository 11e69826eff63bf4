-- The index time_entries_by_user_with_end has the same columns, and those that it includes.
DROP INDEX CONCURRENTLY tenant_crm.time_entries_by_user;
