-- Indexes for foreign keys. When a row is deleted for good, PostgreSQL looks for rows that refer to it, those that are
-- deleted softly included. The indexes of lists have only the rows that are not: without these, each deletion reads
-- all rows of the tenant in each table that refers to it.
CREATE INDEX contacts_company_id_fkey_idx ON tenant_crm.contacts (tenant_id, company_id)
  WHERE company_id IS NOT NULL;
CREATE INDEX projects_company_id_fkey_idx ON tenant_crm.projects (tenant_id, company_id)
  WHERE company_id IS NOT NULL;
CREATE INDEX communication_logs_contact_id_fkey_idx ON tenant_crm.communication_logs (tenant_id, contact_id)
  WHERE contact_id IS NOT NULL;
CREATE INDEX communication_logs_company_id_fkey_idx ON tenant_crm.communication_logs (tenant_id, company_id)
  WHERE company_id IS NOT NULL;
CREATE INDEX tasks_contact_id_fkey_idx ON tenant_crm.tasks (tenant_id, contact_id)
  WHERE contact_id IS NOT NULL;
CREATE INDEX tasks_company_id_fkey_idx ON tenant_crm.tasks (tenant_id, company_id)
  WHERE company_id IS NOT NULL;
CREATE INDEX tasks_project_id_fkey_idx ON tenant_crm.tasks (tenant_id, project_id)
  WHERE project_id IS NOT NULL;
CREATE INDEX time_entries_project_id_fkey_idx ON tenant_crm.time_entries (tenant_id, project_id)
  WHERE project_id IS NOT NULL;
CREATE INDEX time_entries_task_id_fkey_idx ON tenant_crm.time_entries (tenant_id, task_id)
  WHERE task_id IS NOT NULL;
CREATE INDEX contact_merges_survivor_id_fkey_idx ON tenant_crm.contact_merges (tenant_id, survivor_id);
CREATE INDEX contact_merges_merged_id_fkey_idx ON tenant_crm.contact_merges (tenant_id, merged_id);
CREATE INDEX messages_bot_id_fkey_idx ON tenant_crm.messages (tenant_id, bot_id)
  WHERE bot_id IS NOT NULL;
