-- In a transaction of its own, because it reads all endpoints: it then only waits for other changes of the table's definition.
ALTER TABLE tenant_crm.webhook_endpoints VALIDATE CONSTRAINT webhook_endpoints_disabled_reason_check;
