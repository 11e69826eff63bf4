-- Timelines of contacts and companies read their tasks in the order of creation.
CREATE INDEX tasks_by_contact_creation ON tenant_crm.tasks (tenant_id, contact_id, created_at, id)
  WHERE deleted_at IS NULL AND contact_id IS NOT NULL;
CREATE INDEX tasks_by_company_creation ON tenant_crm.tasks (tenant_id, company_id, created_at, id)
  WHERE deleted_at IS NULL AND company_id IS NOT NULL;

-- The new indexes begin with the columns of these.
DROP INDEX tenant_crm.tasks_by_contact;
DROP INDEX tenant_crm.tasks_by_company;
