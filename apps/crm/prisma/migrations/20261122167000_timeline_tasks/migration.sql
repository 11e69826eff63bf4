-- Timelines count and order tasks in the index alone, and show only those of projects that the caller may see.
DROP INDEX tenant_crm.tasks_by_contact_creation;
DROP INDEX tenant_crm.tasks_by_company_creation;
CREATE INDEX tasks_by_contact_creation ON tenant_crm.tasks (tenant_id, contact_id, created_at, id)
  INCLUDE (project_id) WHERE deleted_at IS NULL AND contact_id IS NOT NULL;
CREATE INDEX tasks_by_company_creation ON tenant_crm.tasks (tenant_id, company_id, created_at, id)
  INCLUDE (project_id) WHERE deleted_at IS NULL AND company_id IS NOT NULL;
