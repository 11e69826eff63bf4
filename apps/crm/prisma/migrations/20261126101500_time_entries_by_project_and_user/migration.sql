-- Counts a user's entries in each private project that they do not see, and serves the foreign key of the project.
CREATE INDEX CONCURRENTLY time_entries_by_project_and_user
  ON tenant_crm.time_entries (tenant_id, project_id, user_id) WHERE project_id IS NOT NULL;
