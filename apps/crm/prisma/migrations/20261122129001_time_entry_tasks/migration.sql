-- Time entries refer to tasks.
ALTER TABLE tenant_crm.time_entries ADD COLUMN task_id UUID;

CREATE INDEX time_entries_by_task ON tenant_crm.time_entries (tenant_id, task_id, started_at, id)
  WHERE deleted_at IS NULL AND task_id IS NOT NULL;

SELECT tenant_crm.refer('tenant_crm.time_entries', 'task_id', 'tenant_crm.tasks');
SELECT tenant_crm.protect('tenant_crm.time_entries');
